"""Variables, functions and aliases that change what other commands do."""

import re
from collections.abc import Iterator

from hob.core.translation.language import translatable
from hob.guard.shell.arguments import ANY, DANGEROUS_PROGRAMS, HARMLESS_PROGRAMS, HERE, HOME, words
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding
from hob.guard.shell.commands import BUILTINS
from hob.guard.shell.interpreters import SHELLS

_LOADS = re.compile(
    r"LD_.*|DYLD_.*|BASH_ENV|ENV|BASH_FUNC_.*|PROMPT_COMMAND|PS[0-4]|SHELLOPTS|BASHOPTS|GLOBIGNORE|FIGNORE|CDPATH|HISTFILE|"
    r"GIT_(?:SSH|SSH_COMMAND|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND|EXEC_PATH|CONFIG\w*|TEMPLATE_DIR|SEQUENCE_EDITOR|DIR|WORK_TREE)|SSH_ASKPASS|"
    r"SUDO_ASKPASS|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PYTHONBREAKPOINT|PERL5OPT|PERL5LIB|PERL5DB|PERLLIB|RUBYOPT|RUBYLIB|"
    r"JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|NODE_PATH|LESSOPEN|LESSCLOSE|GCONV_PATH|LOCPATH|NLSPATH|TERMINFO|MALLOC_\w+|GLIBC_TUNABLES|"
    r"LUA_INIT\w*|PHPRC|PHP_INI_SCAN_DIR|AWKPATH|ZDOTDIR|KRB5_CONFIG|OPENSSL_CONF|(?:https?|all|ftp)_proxy|(?:HTTPS?|ALL|FTP)_PROXY|"
    r"(?:PIP|UV|NPM_CONFIG)_(?:INDEX|EXTRA_INDEX|DEFAULT_INDEX|REGISTRY|TRUSTED)\w*|RUSTC_WRAPPER|RUSTC|CARGO_HOME|MAKEFLAGS|HOB_\w+"
)
_PROGRAMS = re.compile(
    r"(?:GIT_)?(?:EDITOR|VISUAL|PAGER)|MANPAGER|BROWSER|SHELL|GIT_EDITOR|FCEDIT|SYSTEMD_PAGER|TAR_OPTIONS|RSYNC_RSH|CC|CXX|LD|AR"
)
_KNOWN_PROGRAMS = re.compile(
    r"(?:cat|less|more|most|vim?|nvim|nano|emacs|true|:|code|bat|delta|gcc|g\+\+|clang|clang\+\+|ccache|cc|ld|ar|ssh|micro|"
    r"/bin/\w+|/usr/bin/\w+|[\w.-]*gcc(?:-\d+)?|[\w.-]*g\+\+(?:-\d+)?|clang(?:\+\+)?-\d+|)(?:\s+-[\w=-]+)*(?:\s(?:gcc|clang)(?:\+\+)?)?"
)
_NODE = re.compile(
    r"(?:--max[-_]old[-_]space[-_]size=\d+|--no-\w[\w-]*|--enable-source-maps|--experimental-vm-modules|--trace-\w[\w-]*|--openssl-legacy-provider|\s)*"
)
_COMMON = (
    BUILTINS
    | HARMLESS_PROGRAMS
    | DANGEROUS_PROGRAMS
    | SHELLS
    | frozenset(
        words("""git python python3 pip npm node make cargo go docker ssh sed awk find xargs tar gzip env cp mv mkdir
        sudo su vim nano""")
    )
)
_LOCAL_BINS = re.compile(
    r"(?:[\x04\x03]?[^\x00:]*/)?(?:node_modules/\.bin|\.venv/bin|venv/bin|\.local/bin|\.cargo/bin|go/bin|bin|sbin)/?"
)


def assignments(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge assignments, including those of `env` and `export`."""
    command = rule_input.command
    pairs = list(command.assignments)
    if command.name in ("env", "export", "declare", "typeset", "readonly", "sudo", "make", "gmake"):
        pairs += [
            (name, value)
            for arg in rule_input.args
            for name, equals, value in [arg.partition("=")]
            if equals and name.isidentifier()
        ]
    for name, value in pairs:
        if reason := _reason(name, value, command.name, bool(command.argv)):
            yield rule_input.ask("environment-change", reason)
            yield from rule_input.refusals(value, rule_input)


def _reason(name: str, value: str, program: str, prefix: bool) -> str:
    if name == "PATH":
        return "" if all(map(_is_usual, value.split(":"))) else "it changes where programs are found"
    if name == "IFS":
        return "" if prefix and program in ("read", "mapfile", "readarray") else "it changes how words are divided"
    if name == "NODE_OPTIONS":
        return "" if _NODE.fullmatch(value) else translatable("{name} changes what programs load", name=name)
    if name == "PYTHONPATH":
        return "it changes what Python loads" if value.startswith(("/tmp", ANY)) else ""  # noqa: S108 - a value to judge
    if (
        name in ("GIT_DIR", "GIT_WORK_TREE")
        and re.fullmatch(r"[\w./-]+", value)
        and ".." not in value
        and value[0] != "/"
    ):
        return ""
    if _PROGRAMS.fullmatch(name):
        return (
            ""
            if _KNOWN_PROGRAMS.fullmatch(value)
            else translatable("{name} names a program that others will run", name=name)
        )
    return (
        translatable("{name} changes what programs load or where they go", name=name) if _LOADS.fullmatch(name) else ""
    )


def _is_usual(part: str) -> bool:
    """Return whether this is an ordinary part of PATH. `/` with an unknown rest is the previous PATH."""
    if part in ("/" + ANY, ANY):
        return True
    if part.startswith(("/tmp", "/dev", "/var/tmp", "/proc")) or not part or part == HERE:  # noqa: S108 - a value to judge
        return False
    if part[0] in "/" + HOME:
        return (
            part.startswith(("/usr/", "/bin", "/sbin", "/opt/", "/snap/", "/nix/", "/home/", "/root/", HOME))
            and ANY not in part[:2]
        )
    return _LOCAL_BINS.fullmatch(part) is not None and ("/" in part or part in ("bin",)) and ".." not in part


def redefinitions(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge aliases and other ways to redefine a known name."""
    if rule_input.name == "alias":
        names = [arg.partition("=")[0] for arg in rule_input.args if "=" in arg]
        if any(name in _COMMON for name in names):
            yield rule_input.ask("shadowing", translatable("it gives {name} another meaning", name=", ".join(names)))
    elif rule_input.name == "hash" and "-p" in rule_input.args:
        yield rule_input.ask("shadowing", "it gives a name another program")
    elif rule_input.name == "enable" and rule_input.args:
        yield rule_input.ask("shadowing", "it loads or turns off builtins of the shell")
    elif rule_input.name == "shopt" and any("alias" in arg or "sourcepath" in arg for arg in rule_input.args):
        yield rule_input.ask("shadowing", "it changes what words mean")
    elif rule_input.name in ("bind", "complete", "PROMPT_COMMAND") and rule_input.args:
        yield rule_input.ask("shadowing", "it binds commands to keys or words")


def find_shadowed(names: tuple[str, ...]) -> list[str]:
    """Return the functions named like a known program."""
    return [name for name in names if name in _COMMON and name not in (":",)]


RULES: Rules = dict.fromkeys(("alias", "hash", "enable", "shopt", "bind", "complete"), redefinitions)
