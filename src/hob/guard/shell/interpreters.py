"""What shells and interpreters run: an argument, a file, or their standard input."""

import re
from collections.abc import Callable
from dataclasses import replace

from hob.core.values import dataclass
from hob.guard.shell.arguments import Args, after_options, operands, option_values
from hob.guard.shell.commands import Code, Runs

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "yash", "oksh"})
_SHELL_VALUED = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})


@dataclass(frozen=True, slots=True)
class Interpreter:
    """How an interpreter takes its program: `code` are option letters that take code, `rest` those that take other
    values.
    """

    language: str
    code: str = "e"
    rest: str = ""
    long: tuple[str, ...] = ()
    valued: frozenset[str] = frozenset()
    modules: str = ""  # the letter that names a module to run


_LANGUAGES = {
    "python": Interpreter("python", "c", "WX", (), frozenset({"-W", "-X", "--check-hash-based-pycs"}), "m"),
    "perl": Interpreter("perl", "eE", "0iFMmIxlCD"),
    "ruby": Interpreter("ruby", "e", "0iFIrCKEx", (), frozenset({"-I", "-r", "-C"})),
    "node": Interpreter(
        "javascript", "ep", "rC", ("--eval", "--print"), frozenset({"-r", "--require", "--import", "-C", "--loader"})
    ),
    "php": Interpreter("php", "rBRE", "dczF", ("--run",), frozenset({"-d", "-c", "-z"})),
    "lua": Interpreter("lua", "e", "l", (), frozenset({"-l"})),
    "julia": Interpreter("julia", "eE", "pLtJ", ("--eval", "--print"), frozenset({"-L", "-p", "-t"})),
    "Rscript": Interpreter("r", "e"),
    "osascript": Interpreter("applescript", "e", "ls", (), frozenset({"-l", "-s"})),
    "groovy": Interpreter("groovy", "e"),
    "elixir": Interpreter("elixir", "e", "rS", ("--eval",), frozenset({"-r", "-S"})),
    "scala": Interpreter("scala", "e"),
    "tclsh": Interpreter("tcl", ""),
    "wish": Interpreter("tcl", ""),
    "expect": Interpreter("tcl", "c", "f"),
    "guile": Interpreter("scheme", "c", "lse"),
    "emacs": Interpreter("lisp", "", "", ("--eval", "-eval", "--execute"), frozenset({"-l", "--load"})),
    "pwsh": Interpreter("powershell", "cC", "", ("-Command", "-EncodedCommand", "-command"), frozenset({"-File"})),
    "psql": Interpreter("sql", "c", "dUhpfvF", ("--command",), frozenset({"-d", "-U", "-h", "-p", "-v", "-F"})),
    "mysql": Interpreter("sql", "e", "uhPDp", ("--execute",), frozenset({"-u", "-h", "-P", "-D"})),
}
_ALIASES = {
    "nodejs": "node", "bun": "node", "luajit": "lua", "texlua": "lua", "jruby": "ruby", "irb": "ruby", "pypy": "python",
    "mariadb": "mysql", "powershell": "pwsh", "ipython": "python", "bpython": "python",
}  # fmt: skip
_VERSION = re.compile(r"[\d.]+\Z")
_STDIN_PLAIN = frozenset({"psql", "mysql", "emacs", "elixir", "scala", "groovy", "julia", "ipython", "irb", "wish"})


def interpreter_runs(name: str, args: Args) -> Runs | None:
    """Return what a shell or interpreter of this name runs, or None if it is neither."""
    if name in SHELLS:
        return _shell(args)
    base = _VERSION.sub("", name)
    base = _ALIASES.get(base, base)
    special = _SPECIAL.get(base)
    if special is not None:
        return special(args)
    spec = _LANGUAGES.get(base)
    return None if spec is None else _program(spec, args, base not in _STDIN_PLAIN)


def shell_run(text: str, positional: Args = ()) -> Runs:
    """Return the invocation of a single shell text."""
    return Runs((), ((text, positional),))


def _shell(args: Args) -> Runs:
    at, takes_code, takes_input = 0, False, False
    while at < len(args) and args[at][:1] in ("-", "+") and len(args[at]) > 1:
        arg = args[at]
        at += 1
        if arg == "--":
            break
        if arg in _SHELL_VALUED:
            at += 1
        elif arg[:2] != "--":
            takes_code = takes_code or (arg[0] == "-" and "c" in arg)
            takes_input = takes_input or "s" in arg
    rest = args[at:]
    if takes_code:
        return shell_run(rest[0], rest[1:]) if rest else Runs()
    if rest and rest[0] != "-" and not takes_input:
        return Runs(scripts=(rest[0],))
    if args[:1] in (("--version",), ("--help",)):
        return Runs()
    return Runs(takes_input=True)


def _program(spec: Interpreter, args: Args, takes_input: bool) -> Runs:
    code: list[Code] = []
    at = 0
    while at < len(args):
        arg = args[at]
        at += 1
        if arg == "-":
            return Runs(code=tuple(code), takes_input=not code, language=spec.language)
        if arg[:1] != "-":
            scripts = (arg,) if not code and takes_input else ()
            return Runs(code=tuple(code), scripts=scripts, language=spec.language)
        name, equals, value = arg.partition("=")
        if name in spec.long:
            code.append(Code(spec.language, value if equals else args[at] if at < len(args) else ""))
            at += not equals
        elif arg in spec.valued:
            at += 1
        elif arg[:2] != "--":
            kind, value = _cluster(spec, arg)
            if kind == "code":
                code.append(Code(spec.language, value or (args[at] if at < len(args) else "")))
                at += not value
            elif kind == "module":
                return Runs(code=tuple(code), language=spec.language)
        elif arg in ("--version", "--help", "--test"):
            return Runs(language=spec.language)
    informs = not code and bool(args) and all(arg in ("-V", "-v", "-h") for arg in args)
    return Runs(code=tuple(code), takes_input=takes_input and not code and not informs, language=spec.language)


def _cluster(spec: Interpreter, arg: str) -> tuple[str, str]:
    """Return the kind of option that ends a cluster of letters, and its attached value."""
    for at in range(1, len(arg)):
        if arg[at] in spec.code:
            return "code", arg[at + 1 :]
        if arg[at] == spec.modules:
            return "module", ""
        if arg[at] in spec.rest:
            return "", ""
    return "", ""


def _awk(args: Args) -> Runs:
    scripts = tuple(option_values(args, "-f", "--file", "-E"))
    code = [Code("awk", text) for text in option_values(args, "-e", "--source")]
    rest = after_options(args, ("-F", "-v", "-f", "-i", "-l", "-E", "-e", "--source", "--file"))
    if not scripts and not code and rest:
        code.append(Code("awk", rest[0]))
    return Runs(code=tuple(code), scripts=scripts, language="awk")


def _sed(args: Args) -> Runs:
    scripts = tuple(option_values(args, "-f", "--file"))
    code = [Code("sed", text) for text in option_values(args, "-e", "--expression")]
    code += [Code("sed", args[at + 1]) for at, arg in enumerate(args[:-1]) if re.fullmatch("-[nEruzs]+e", arg)]
    rest = operands(args, ("-e", "-f", "-l", "--expression", "--file"))
    if not scripts and not code and rest:
        code.append(Code("sed", rest[0]))
    return Runs(code=tuple(code), scripts=scripts, language="sed")


def _editor(args: Args) -> Runs:
    texts = [*option_values(args, "-c", "--cmd", "-C"), *(arg[1:] for arg in args if arg[:1] == "+" and len(arg) > 1)]
    scripts = tuple(option_values(args, "-S", "-s", "-u"))
    batch = any(re.fullmatch("-[A-Za-z]*[es][A-Za-z]*", arg) for arg in args)
    code = tuple(Code("vim", text) for text in texts)
    return Runs(
        code=code,
        scripts=tuple(each for each in scripts if each not in ("NONE", "")),
        takes_input=batch,
        language="vim",
    )


def _line_editor(args: Args) -> Runs:
    return replace(_editor(args), takes_input=True)


def _sqlite(args: Args) -> Runs:
    texts = [
        *option_values(args, "-cmd"),
        *operands(args, ("-cmd", "-separator", "-nullvalue", "-init", "-newline"))[1:],
    ]
    return Runs(code=tuple(Code("sqlite", text) for text in texts), takes_input=not texts, language="sqlite")


def _debugger(args: Args) -> Runs:
    texts = tuple(Code("gdb", text) for text in option_values(args, "-ex", "--eval-command", "-iex", "--ex", "-o"))
    inner = args[args.index("--args") + 1 :] if "--args" in args else ()
    return Runs(code=texts, commands=(inner,) if inner else (), scripts=tuple(option_values(args, "-x", "--command")))


def _make(args: Args) -> Runs:
    files = tuple(option_values(args, "-f", "--file", "--makefile"))
    code = tuple(Code("make", text) for text in option_values(args, "--eval", "-E"))
    return Runs(code=code, scripts=files, language="make")


def _deno(args: Args) -> Runs:
    if args[:1] == ("eval",):
        return Runs(code=tuple(Code("javascript", text) for text in operands(args[1:])[:1]), language="javascript")
    if args[:1] == ("run",):
        return Runs(scripts=tuple(operands(args[1:], ("-c", "--config"))[:1]), language="javascript")
    return Runs()


def _jq(args: Args) -> Runs:
    named = ("--arg", "--argjson", "--slurpfile", "--rawfile")  # these take a name and a value
    taken = {place + 2 for place, arg in enumerate(args) if arg in named}
    args = tuple(arg for place, arg in enumerate(args) if place not in taken)
    rest = operands(args, (*named, "-f", "--from-file", "--indent", "-L"))
    return Runs(code=tuple(Code("jq", text) for text in rest[:1]), language="jq")


_SPECIAL: dict[str, Callable[[Args], Runs]] = {
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("vim", "vi", "nvim", "view", "vimdiff", "rvim"), _editor),
    **dict.fromkeys(("ex", "ed"), _line_editor),
    **dict.fromkeys(("gdb", "lldb"), _debugger),
    **dict.fromkeys(("make", "gmake", "bmake"), _make),
    "sqlite": _sqlite,
    "deno": _deno,
    "jq": _jq,
}
