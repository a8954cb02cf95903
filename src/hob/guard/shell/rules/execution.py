"""Unknown code: computed program names, programs from the network, commands hidden in options."""

import re
from collections.abc import Iterator

from hob.core.tools import Effect
from hob.core.translation.language import translatable
from hob.guard.policy.places import is_executable_config_name, names_executable_config
from hob.guard.shell.arguments import (
    ANY,
    DANGEROUS_PROGRAMS,
    DECODERS,
    DOWNLOADERS,
    HARMLESS_PROGRAMS,
    display,
    is_known,
    may_be,
    possible_values,
    words,
)
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding, ShellSeverity

# Writing a file that later turns or other programs obey is reported as an effect, in the form that file tools declare
# it.

_READING = (
    HARMLESS_PROGRAMS
    | {"git", "less", "awk", "rg", "ag", "fd", "find", "jq", "cd", "rm", "pytest", "mypy", "flake8", "pylint"}
) - {"touch", "pandoc", "iconv"}
_PERSISTS = frozenset({Effect.PERSISTS})


def executable_config(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Report names of executable configuration in arguments, redirections and inline code."""
    command = rule_input.command
    named = [each.target for each in command.redirections if each.operator[:1] == ">"]
    if command.name not in _READING:
        named += [arg.partition("=")[2] if "=" in arg else arg for arg in rule_input.args]
    paths = (rule_input.resolve(each) for each in named if each)
    if any(is_executable_config_name(path) for path in paths if not path.startswith("/tmp/")) or any(  # noqa: S108 - it vanishes
        names_executable_config(code.text) for code in command.runs.code
    ):
        yield rule_input.note("obeyed", "what it names is taken for instruction later", _PERSISTS)


_HIDES = frozenset(
    words("""git tar gtar bsdtar zip split sort rg man wget tcpdump scp sftp ssh rsync less nc ncat netcat pg_dump""")
)
_USUAL = re.compile(
    r"(?:env\s+\w+=\S+\s+)*(?:ssh|cat|less|more|most|gzip|pigz|zstd|zstdmt|xz|pxz|bzip2|pbzip2|lz4|lzop|brotli|bat|delta|diff-so-fancy|"
    r"vim|nvim|vi|nano|true|:|code|meld|diff|osxkeychain|cache|store|manager|nvimdiff|vimdiff|git-lfs|)(?:\s+[-\w=.,/%+@:]+)*"
)
_FLAGS = re.compile(r"exec=|--checkpoint-action|--to-command|ProxyCommand|LocalCommand", re.IGNORECASE)
_ODD = re.compile(r"[^\x00-\x7f]")


def unknown(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge a program name that is unknown or resembles another."""
    name = rule_input.command.argv[0]
    if is_known(name):
        if _ODD.search(rule_input.name):
            yield rule_input.ask("unknown-command", "the program's name has unusual letters")
        elif (
            rule_input.name.startswith("-")
            or not rule_input.name.isprintable()
            or (" " in rule_input.name and "/" not in name)
        ):
            yield rule_input.ask("unknown-command", "the program's name is unusual")
        return
    if name == ANY and not rule_input.args and not rule_input.command.text.startswith(("$", '"$', "`")):
        return
    yield rule_input.ask(
        "unknown-command", translatable("which program it runs is not known ({name})", name=display(name))
    )


def possible_programs(rule_input: RuleInput) -> tuple[str, ...]:
    """Return the dangerous programs that an unknown name may turn out to be."""
    name = rule_input.command.argv[0].rpartition("/")[2]
    if name == ANY:
        return ("rm", "dd", "chmod", "mkfs")[: 4 if any("/dev/" in arg for arg in rule_input.args) else 3]
    if possible_values(name) is None:
        return ("rm",)
    return tuple(sorted(each for each in DANGEROUS_PROGRAMS if may_be(name, each)))[:12]


def opaque(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge code that is not part of the text."""
    runs = rule_input.command.runs
    if runs.opaque:
        writers = {*rule_input.command.fed_by, *re.findall(r"[\w.-]+", runs.opaque)}
        if writers & DOWNLOADERS:
            yield rule_input.ask(
                "network-code", "it runs what comes from the network", frozenset({Effect.COMMUNICATES})
            )
        elif writers & DECODERS:
            yield rule_input.ask("decoded-code", "it runs what it decodes first, and that cannot be read here")
        else:
            yield rule_input.ask("piped-code", runs.opaque)
    elif runs.takes_input and rule_input.command.stdin is None and not runs.code:
        yield rule_input.ask("piped-code", "it runs what it will read from its input")
    for script in runs.scripts:
        if not is_known(script.replace("\x03", "").replace("\x04", "")):
            yield rule_input.ask("piped-code", "which script it runs is not known")
        elif script.startswith(("/dev/", "/proc/")):
            yield rule_input.ask("piped-code", translatable("it runs what {path} gives", path=display(script)))


def hidden(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge commands in options of programs that are not known to run any."""
    runs = rule_input.command.runs
    if rule_input.name not in _HIDES or not runs.shell:
        return
    flagged = any(_FLAGS.search(arg) for arg in rule_input.args)
    tells = rule_input.name == "git" and any(
        arg in ("foreach", "run", "-x", "--exec", "rebase") for arg in rule_input.args
    )
    if rule_input.name == "ssh" and not flagged:
        return
    unusual = flagged or any(not _USUAL.fullmatch(text.strip()) for text, _ in runs.shell)
    if unusual and (not tells or rule_input.args[:1] == ("-c",)):
        yield rule_input.ask("hidden-command", translatable("an option of {name} runs a command", name=rule_input.name))


def shown_first(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `less +!command`: commands that a pager runs at start."""
    for arg in rule_input.args:
        if arg.startswith("+") and ("!" in arg or ("|" in arg and arg[1:2] not in ("/", "?"))):
            yield rule_input.ask(
                "hidden-command", translatable("an option of {name} runs a command", name=rule_input.name)
            )


def injected(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge text that builtins evaluate as arithmetic or as names, and that runs something."""
    if rule_input.name in (
        "let",
        "test",
        "[",
        "printf",
        "declare",
        "typeset",
        "local",
        "read",
        "unset",
        "export",
        "readonly",
    ):
        for arg in rule_input.args:
            if re.search(r"\[[^\]]*(?:\$\(|`)", arg):
                yield rule_input.ask("hidden-command", "an index in it runs a command")


def is_refused(finding: ShellFinding) -> bool:
    """Return whether the finding is a refusal."""
    return finding.severity is ShellSeverity.REFUSE


RULES: Rules = dict.fromkeys(("less", "more", "most", "pg"), shown_first)
