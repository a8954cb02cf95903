"""Analysis of a tool call: its arguments by role, and the acts that follow from them and the tool's effects."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any
from urllib.parse import unquote_plus

from hob.core.argument_roles import ArgumentRole
from hob.core.content.json_text import parse_json_object
from hob.core.tools import Effect, Tier, ToolCall, ToolSpec
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.guard.policy.addresses import Target, host, recipient
from hob.guard.policy.context import Sandbox
from hob.guard.policy.modes import Act
from hob.guard.policy.places import Places, is_secret_file, patched_files
from hob.guard.policy.reasons import RISK
from hob.guard.shell.command_context import ShellFinding, ShellSeverity

_STATEFUL_INPUT = re.compile(  # aliases, the history, positional parameters
    r"(?:^|[;&|(]|\bbuiltin|\bcommand)\s*(?:alias|fc|history|hash|enable|complete|set)\b|^\^|(?:^|[\s;&|(])![\w!?$*:#-]"
    r"|\$\{?[@*\d]",
    re.MULTILINE,
)
_SERVICE_NAME = re.compile(r"\s*[@#]?[^\W\d_]+(?:[ '\u2019-][^\W\d_]+)*\s*")
_LISTED = re.compile(r": (\{\w+\}(?:, \{\w+\})+)$")
_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_LONGEST_SAID = 80
_TIME = re.compile(r"[\d:.+TZ -]{0,35}", re.ASCII)
_TIERS: Mapping[Act, Tier] = {
    Act.READ: Tier.READ,
    Act.FETCH: Tier.READ,
    Act.WRITE: Tier.WRITE,
}


@dataclass(frozen=True, slots=True)
class CommandReading:
    """A command as the shell analysis understood it.

    `lines` are shown to people. An approval must bind `programs`, `scripts` (with the directory they are relative to)
    and `targets`, the other words that may be paths. `sets_variables` means that the command sets variables, which
    influence the files that programs use.
    """

    findings: tuple[ShellFinding, ...] = ()
    lines: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    scripts: tuple[tuple[str, str], ...] = ()
    targets: tuple[tuple[str, str], ...] = ()
    sets_variables: bool = False


ReadCommand = Callable[[str, str], CommandReading]
"""Analyses a command that runs in a directory. Pure; never raises."""


def require_approval(command: str, _directory: str) -> CommandReading:
    """Require approval for every command. Used if no shell analysis is available."""
    return CommandReading((ShellFinding(ShellSeverity.ASK, "unread", "nothing here can read commands", command),))


def _find_nothing(_: object) -> Collection[str]:
    return ()


def _is_missing(_path: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class ArgumentReader:
    """Dependencies of call analysis.

    `secrets` finds known secret values, `personal` finds personal data (cards, accounts, passwords). `resolve` returns
    the real paths that a file tool's call would reach, following links, and never raises; they count in addition to the
    paths as written. `file_exists` returns whether a file exists at a path. `hosts` are the owner's own, even if
    their names have no dot.
    """

    places: Places
    read_command: ReadCommand = require_approval
    secrets: Callable[[str], Collection[str]] = _find_nothing
    personal: Callable[[str], Collection[str]] = _find_nothing
    resolve: Callable[[ToolCall], Collection[str]] = _find_nothing
    file_exists: Callable[[str], bool] = _is_missing
    country: str = ""
    hosts: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class ToolCallAnalysis:
    """A call as the rules see it. `complete` means that its roles cover every argument, so all its destinations are
    known.

    A tool without roles, or a call with an argument that they do not cover, is never exempt, because its destinations
    are unknown.

    `paths` and `sources` are normalised. A recipient is None if it is not a plain address; `people` are the same
    recipients as written if they may be names. `body` is all text that leaves. `names`, `amounts` and `things` are as
    written; `plain` are other texts except times and numbers; `elements` describes elements of the page by reference.
    `replaces` means that the call overwrites an existing file.
    """

    tool: str
    spec: ToolSpec
    arguments: Mapping[str, Any]
    reading: ArgumentRole | None = None
    complete: bool = False
    acts: frozenset[Act] = frozenset()
    paths: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    recipients: tuple[Target | None, ...] = ()
    people: tuple[str, ...] = ()
    channel: str = ""
    urls: tuple[str, ...] = ()
    sent_to: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    body: str = ""
    commands: tuple[str, ...] = ()
    directory: str = ""
    hosts: tuple[str, ...] = ()
    online: bool = False
    keys: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    amounts: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    read_commands: tuple[CommandReading, ...] = ()
    secret: bool = False
    replaces: bool = False
    elements: Mapping[str, str] = field(default_factory=dict)
    personal: tuple[str, ...] = ()

    @property
    def tier(self) -> Tier:
        """The declared tier, or that of its acts if higher."""
        return max((self.spec.tier, *(_TIERS.get(act, Tier.HIGH_RISK) for act in self.acts)))

    @property
    def findings(self) -> tuple[ShellFinding, ...]:
        """The findings about its commands."""
        return tuple(finding for reading in self.read_commands for finding in reading.findings)

    @property
    def risk(self) -> str:
        """The main risk in words, "" if there is none."""
        found = next((each for each in self.findings if each.severity is not ShellSeverity.PLAIN), None)
        if found is not None:
            return translatable(RISK, reason=found.reason, rule=found.rule)
        return next(iter(self.risks), "")

    @property
    def risks(self) -> tuple[str, ...]:
        """All risks in words, without the names of rules."""
        found = [each.reason for each in self.findings if each.severity is not ShellSeverity.PLAIN]
        files = [translatable("{path} usually holds keys", path=path) for path in self.secret_files]
        return tuple(dict.fromkeys((*found, *files)))

    @property
    def does(self) -> str:
        """The effect of the call in the tool's words; "" if the tool has none."""
        if self.reading is None or not self.reading.says:
            return ""
        says = _LISTED.sub(self._list_given, self.reading.says)
        missing = "" if "}{" in says else "-"
        values = {name: _short(self._described(name), missing) for name in _PLACEHOLDER.findall(says)}
        if {"{", "}"} & set(_PLACEHOLDER.sub("", says)):  # text of a plug-in, which is not a message with placeholders
            return _PLACEHOLDER.sub(lambda found: values[found[1]], says)
        return translatable(says, **values)

    def _described(self, name: str) -> Any:
        """Return an argument, elements of a page by what they are instead of by reference."""
        value = self.arguments.get(name)
        if self.reading is None or name not in self.reading.elements:
            return value
        return [self._describe_element(each) for each in texts_in(value)] or None

    def _describe_element(self, text: str) -> str:
        ref, equals, rest = text.partition("=")
        return f"{self.elements.get(ref.strip(), ref)}{equals}{rest}"

    def _list_given(self, listed: re.Match[str]) -> str:
        """Return a final list of placeholders without those that have no value."""
        given = [each for each in listed[1].split(", ") if self.arguments.get(each.strip("{}")) not in (None, "", [])]
        return f": {', '.join(given)}" if given else ""

    @property
    def invites_nobody(self) -> bool:
        """Whether the call could invite people but clearly has no guests."""
        invites = self.reading is not None and self.reading.invites
        return invites and self.complete and not (self.recipients or self.names)

    @property
    def only_answers(self) -> bool:
        """Whether the call only writes in the turn's own chat, as its reply does."""
        return self.reading is not None and self.reading.answers and self.complete and not self.recipients

    @property
    def reads_private(self) -> bool:
        """Whether the call shows the owner's private data."""
        return Effect.READS_PRIVATE in self.spec.effects

    @property
    def secret_files(self) -> tuple[str, ...]:
        """The files the call touches whose names suggest keys or passwords."""
        return tuple(path for path in (*self.paths, *self.sources) if is_secret_file(path))


def read_call(call: ToolCall, spec: ToolSpec, reader: ArgumentReader, sandbox: Sandbox) -> ToolCallAnalysis | None:
    """Analyse a call; None if its arguments are not a JSON object."""
    arguments = parse_json_object(call.arguments or "{}")
    if arguments is None:
        return None
    spec = spec.used_by(arguments)
    reading = spec.roles
    texts = tuple(texts_in(arguments))
    analysis = ToolCallAnalysis(call.name, spec, arguments, reading, secret=any(reader.secrets(text) for text in texts))
    if reading is not None:
        analysis = _read(analysis, reading, reader)
        if analysis.paths:
            real = (reader.places.path(each) for each in reader.resolve(call))
            paths = tuple(dict.fromkeys((*analysis.paths, *real)))
            writes = bool(spec.effects & {Effect.WRITES, Effect.WRITES_FINALLY})
            analysis = replace(analysis, paths=paths, replaces=writes and any(map(reader.file_exists, paths)))
    return replace(analysis, acts=frozenset(_acts(analysis, sandbox, reader.places)))


def _strings(arguments: Mapping[str, Any], names: Iterable[str]) -> Iterable[str]:
    return (text for name in names for text in texts_in(arguments.get(name)))


def _short(value: Any, missing: str) -> str:
    """Shorten an argument for use in a sentence."""
    values = value if isinstance(value, list) else [value]
    text = ", ".join(missing if each is None else " ".join(str(each).split()) for each in values) or missing
    return text if len(text) <= _LONGEST_SAID else f"{text[:_LONGEST_SAID]}…"


def _read(analysis: ToolCallAnalysis, reading: ArgumentRole, reader: ArgumentReader) -> ToolCallAnalysis:
    found = _Arguments(analysis.arguments)
    places = reader.places
    patches = found.texts(reading.patches)
    patched = [name for patch in patches for name in patched_files(patch)]
    directory = next(iter(found.texts(reading.directory)), "")
    at = places.path(directory) if directory else places.base
    commands = found.texts(reading.commands)
    body = "\n".join(found.texts(reading.bodies))
    urls = found.texts(reading.urls)
    told = texts_in(analysis.arguments) if reading.remote else ()
    leaving = "\n".join((body, *map(unquote_plus, urls), *told))
    hosts, online = found.hosts(reading.hosts)
    free = [name for name in reading.plain if reading.remote or not _is_choice(analysis, name)]
    written = found.addresses(reading.recipients)
    service_names = tuple(filter(_SERVICE_NAME.fullmatch, written)) if reading.service_names else ()
    written = tuple(each for each in written if each not in service_names)
    return replace(
        analysis,
        complete=analysis.arguments.keys() <= reading.known() and not found.odd and len(patched) >= len(patches),
        paths=tuple(places.path(name) for name in (*found.texts(reading.paths), *patched)),
        sources=tuple(places.path(name) for name in found.texts(reading.sources)),
        recipients=tuple(recipient(each, reader.country) for each in written),
        people=written if reading.by_name else ("",) * len(written),
        channel=next(iter(found.texts(reading.channel)), ""),
        urls=urls,
        sent_to=found.texts((*reading.sent_to, *reading.pages)),
        pages=found.texts(reading.pages),
        body=body,
        commands=commands,
        directory=at,
        hosts=hosts,
        online=online,
        keys=found.texts(reading.keys),
        scripts=found.texts(reading.scripts),
        names=(*found.texts(reading.names), *service_names),
        amounts=found.values(reading.amounts),
        things=found.values(reading.things),
        plain=tuple(each for each in _strings(analysis.arguments, free) if not _TIME.fullmatch(each)),
        read_commands=(
            *_read_commands(commands, found.texts(reading.inputs), at, reader.read_command),
            *(_read_stateful_input(commands) if reading.joins else ()),
        ),
        personal=tuple(reader.personal(leaving)) if leaving else (),
    )


def _is_choice(analysis: ToolCallAnalysis, name: str) -> bool:
    """Return whether an argument is one of the few values that its schema names, and so carries nothing private."""
    match analysis.spec.schema.get("properties", {}).get(name):
        case {"enum": [*choices]}:
            return analysis.arguments.get(name) in choices
    return False


def _read_commands(
    commands: Sequence[str], inputs: Sequence[str], directory: str, read: ReadCommand
) -> tuple[CommandReading, ...]:
    """Analyse the commands and, if one of them may run it, the text typed into them, as a shell would read it."""
    found = tuple(read(command, directory) for command in commands)
    noticed = any(finding.severity is not ShellSeverity.PLAIN for reading in found for finding in reading.findings)
    return (*found, *(read(text, directory) for text in inputs)) if noticed else found


def _read_stateful_input(lines: Sequence[str]) -> Iterable[CommandReading]:
    """Report words whose meaning in a running shell depends on earlier input."""
    for text in lines:
        if (found := _STATEFUL_INPUT.search(text)) is not None:
            reason = "what it does depends on what was typed before"
            yield CommandReading((ShellFinding(ShellSeverity.ASK, "remembered", reason, found[0].strip()),))


class _Arguments:
    """Reads texts from arguments. Sets `odd` if an argument that should be text is not."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self._arguments = arguments
        self.odd = False

    def texts(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._kept(names, str))

    def values(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return texts and numbers, as texts."""
        return tuple(map(str, self._kept(names, str, int, float)))

    def _kept(self, names: Iterable[str], *types: type) -> list[Any]:
        found: list[Any] = []
        for name in names:
            value = self._arguments.get(name)
            values = value if isinstance(value, list) else [value]
            kept = [each for each in values if type(each) in types]  # not isinstance: a truth value is no number
            found += kept
            self.odd = self.odd or len(kept) < sum(each is not None for each in values)
        return found

    def addresses(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return addresses; a text may contain several, separated by commas or semicolons. Quoted names are not plain
        addresses.
        """
        texts = [text.replace(";", ",") for text in self.texts(names)]
        return tuple(each for text in texts for each in text.split(",") if each.strip() or "," not in text)

    def hosts(self, names: Iterable[str]) -> tuple[tuple[str, ...], bool]:
        """Return the requested hosts, and whether network access is requested at all."""
        named: list[str] = []
        online = False
        for name in names:
            value = self._arguments.get(name)
            if isinstance(value, bool) or value is None:
                online = online or value is True
                continue
            each = self.texts([name])
            named += each
            online = online or bool(each) or self.odd
        return tuple(named), online


def texts_in(value: Any, depth: int = 0) -> Iterable[str]:
    """Yield every text in the arguments, including names."""
    if isinstance(value, str):
        yield value
    elif depth > 32:
        return
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield name
            yield from texts_in(each, depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from texts_in(each, depth + 1)


def _acts(analysis: ToolCallAnalysis, sandbox: Sandbox, places: Places) -> Iterable[Act]:
    effects = analysis.spec.effects
    reading = analysis.reading
    if reading is not None and reading.runs and Effect.EXECUTES in effects:
        yield from _acts_of_command(analysis, sandbox)
        return
    if effects & {Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}:
        yield Act.READ
    if Effect.WRITES in effects:
        yield Act.WRITE
    if Effect.WRITES_FINALLY in effects:
        yield Act.FINAL
    if Effect.COMMUNICATES in effects and not analysis.invites_nobody:
        yield Act.FETCH if reading is not None and _only_fetches(reading) else Act.SEND
    if Effect.EXECUTES in effects:  # outside Hob's sandbox it may do anything a program can
        yield from (Act.RUN, Act.FINAL, Act.SEND)
    configures = reading is not None and (reading.configures or bool(reading.keys))
    if Effect.PERSISTS in effects or configures:
        yield Act.CONFIGURE if configures else Act.PERSIST
    if any(analysis.scripts):  # a browser may connect to a host merely because it is named
        yield Act.ONLINE
    yield from _acts_on_files(analysis, places)


def _acts_on_files(analysis: ToolCallAnalysis, places: Places) -> Iterable[Act]:
    writes = bool(analysis.spec.effects & {Effect.WRITES, Effect.WRITES_FINALLY})
    if analysis.secret_files and not writes and Effect.READS_PRIVATE in analysis.spec.effects:
        yield Act.RISK
    if writes:
        if any(map(places.is_executable_config, analysis.paths)):
            yield Act.PERSIST
        if any(map(places.is_configuration, analysis.paths)):
            yield Act.CONFIGURE
        if any(map(places.is_outgoing, analysis.paths)):
            yield Act.ONLINE


def _only_fetches(reading: ArgumentRole) -> bool:
    gives = reading.recipients or reading.names or reading.sent_to or reading.pages or reading.bodies or reading.sources
    return not gives and (reading.searches or bool(reading.urls))


def _acts_of_command(analysis: ToolCallAnalysis, sandbox: Sandbox) -> Iterable[Act]:
    yield Act.READ
    if analysis.commands:
        yield Act.RUN
        if analysis.reading is not None and analysis.reading.joins and sandbox.online:
            yield Act.ONLINE
        lasts = sandbox.late and analysis.arguments.get("background") is True
        if sandbox.exposed or lasts or any(Effect.PERSISTS in finding.effects for finding in analysis.findings):
            yield Act.PERSIST
        if not sandbox.confined:
            yield from (Act.FINAL, Act.SEND)
        elif not sandbox.versioned:
            yield Act.FINAL
    if any(finding.severity is not ShellSeverity.PLAIN for finding in analysis.findings):
        yield Act.RISK
    if analysis.online or analysis.hosts:
        known = [host(each) for each in analysis.hosts]
        allowed = all(each is not None and sandbox.reaches(each.value) for each in known)
        yield Act.ONLINE if allowed else Act.SEND
