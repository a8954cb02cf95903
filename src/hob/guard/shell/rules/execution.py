"""What will run and is not known: computed names, programs from the network, commands hidden in options."""

import re
from collections.abc import Iterator

from hob.core.tools import Effect
from hob.core.translation.language import translatable
from hob.guard.policy.places import is_obeyed_name, names_obeyed
from hob.guard.shell.arguments import (
    ANY,
    DECODERS,
    DOWNLOADERS,
    FEARED,
    HARMLESS,
    is_known,
    may_be,
    pattern,
    shown,
    words,
)
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding, ShellSeverity

# What a command may write that later turns or other programs follow: told for its effect, as file tools declare it.

_READING = (
    HARMLESS | {"git", "less", "awk", "rg", "ag", "fd", "find", "jq", "cd", "rm", "pytest", "mypy", "flake8", "pylint"}
) - {"touch", "pandoc", "iconv"}
_PERSISTS = frozenset({Effect.PERSISTS})


def obeyed(scene: RuleInput) -> Iterator[ShellFinding]:
    """Names in arguments, in redirections and in code that stands in the command."""
    command = scene.command
    named = [each.target for each in command.redirections if each.operator[:1] == ">"]
    if command.name not in _READING:
        named += [arg.partition("=")[2] if "=" in arg else arg for arg in scene.args]
    paths = (scene.resolve(each) for each in named if each)
    if any(is_obeyed_name(path) for path in paths if not path.startswith("/tmp/")) or any(  # noqa: S108 - it vanishes
        names_obeyed(code.text) for code in command.runs.code
    ):
        yield scene.tell("obeyed", "what it names is taken for instruction later", _PERSISTS)


_HIDES = frozenset(
    words("""git tar gtar bsdtar zip split sort rg man wget tcpdump scp sftp ssh rsync less nc ncat netcat pg_dump""")
)
_USUAL = re.compile(
    r"(?:env\s+\w+=\S+\s+)*(?:ssh|cat|less|more|most|gzip|pigz|zstd|zstdmt|xz|pxz|bzip2|pbzip2|lz4|lzop|brotli|bat|delta|diff-so-fancy|"
    r"vim|nvim|vi|nano|true|:|code|meld|diff|osxkeychain|cache|store|manager|nvimdiff|vimdiff|git-lfs|)(?:\s+[-\w=.,/%+@:]+)*"
)
_FLAGS = re.compile(r"exec=|--checkpoint-action|--to-command|ProxyCommand|LocalCommand", re.IGNORECASE)
_ODD = re.compile(r"[^\x00-\x7f]")


def unknown(scene: RuleInput) -> Iterator[ShellFinding]:
    """The program's name is not known, or looks like another one."""
    name = scene.command.argv[0]
    if is_known(name):
        if _ODD.search(scene.name):
            yield scene.ask("unknown-command", "the program's name has unusual letters")
        elif scene.name.startswith("-") or not scene.name.isprintable() or (" " in scene.name and "/" not in name):
            yield scene.ask("unknown-command", "the program's name is unusual")
        return
    if name == ANY and not scene.args and not scene.command.text.startswith(("$", '"$', "`")):
        return
    yield scene.ask("unknown-command", translatable("which program it runs is not known ({name})", name=shown(name)))


def guesses(scene: RuleInput) -> tuple[str, ...]:
    """The feared programs that an unknown name may turn out to be."""
    name = scene.command.argv[0].rpartition("/")[2]
    if name == ANY:
        return ("rm", "dd", "chmod", "mkfs")[: 4 if any("/dev/" in arg for arg in scene.args) else 3]
    if pattern(name) is None:
        return ("rm",)
    return tuple(sorted(each for each in FEARED if may_be(name, each)))[:12]


def opaque(scene: RuleInput) -> Iterator[ShellFinding]:
    """It runs what is not in the text."""
    runs = scene.command.runs
    if runs.opaque:
        writers = {*scene.command.fed_by, *re.findall(r"[\w.-]+", runs.opaque)}
        if writers & DOWNLOADERS:
            yield scene.ask("network-code", "it runs what comes from the network", frozenset({Effect.COMMUNICATES}))
        elif writers & DECODERS:
            yield scene.ask("decoded-code", "it runs what it decodes first, and that cannot be read here")
        else:
            yield scene.ask("piped-code", runs.opaque)
    elif runs.takes_input and scene.command.stdin is None and not runs.code:
        yield scene.ask("piped-code", "it runs what it will read from its input")
    for script in runs.scripts:
        if not is_known(script.replace("\x03", "").replace("\x04", "")):
            yield scene.ask("piped-code", "which script it runs is not known")
        elif script.startswith(("/dev/", "/proc/")):
            yield scene.ask("piped-code", translatable("it runs what {path} gives", path=shown(script)))


def hidden(scene: RuleInput) -> Iterator[ShellFinding]:
    """Commands in options of programs that are not known for running any."""
    runs = scene.command.runs
    if scene.name not in _HIDES or not runs.shell:
        return
    flagged = any(_FLAGS.search(arg) for arg in scene.args)
    tells = scene.name == "git" and any(arg in ("foreach", "run", "-x", "--exec", "rebase") for arg in scene.args)
    if scene.name == "ssh" and not flagged:
        return
    unusual = flagged or any(not _USUAL.fullmatch(text.strip()) for text, _ in runs.shell)
    if unusual and (not tells or scene.args[:1] == ("-c",)):
        yield scene.ask("hidden-command", translatable("an option of {name} runs a command", name=scene.name))


def shown_first(scene: RuleInput) -> Iterator[ShellFinding]:
    """`less +!command`: what a pager is told to do before anything else."""
    for arg in scene.args:
        if arg.startswith("+") and ("!" in arg or ("|" in arg and arg[1:2] not in ("/", "?"))):
            yield scene.ask("hidden-command", translatable("an option of {name} runs a command", name=scene.name))


def injected(scene: RuleInput) -> Iterator[ShellFinding]:
    """Text that builtins take for arithmetic or names, and that runs something."""
    if scene.name in (
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
        for arg in scene.args:
            if re.search(r"\[[^\]]*(?:\$\(|`)", arg):
                yield scene.ask("hidden-command", "an index in it runs a command")


def is_refused(finding: ShellFinding) -> bool:
    """Is it never to be done?"""
    return finding.severity is ShellSeverity.REFUSE


RULES: Rules = dict.fromkeys(("less", "more", "most", "pg"), shown_first)
