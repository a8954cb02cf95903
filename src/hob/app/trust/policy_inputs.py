"""The judge's inputs besides the turn's messages: session modes, and what the turn has read."""

import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol, TypeVar

from hob.core.argument_roles import ArgumentRole
from hob.core.content.files import BootstrapFile
from hob.core.content.json_text import parse_json_object
from hob.core.errors import NotConfigured
from hob.core.ids import CallId, TurnId
from hob.core.models import TranscriptEntry
from hob.core.ports.journal import Journal, Sessions, Transcript
from hob.core.steps import ModelAsked, Step, ToolIntended, ToolReceived, Transcribed
from hob.core.tools import Effect, ToolCall, ToolSpec
from hob.core.translation.language import translatable
from hob.core.trust.labels import OWNER_LABEL, SenderClass
from hob.core.turns import TranscriptView, Turn
from hob.guard.policy.call_analysis import ArgumentReader, read_call
from hob.guard.policy.context import Private, Sandbox
from hob.guard.policy.exemptions import urls_in
from hob.guard.policy.judge import PolicyInput
from hob.guard.policy.modes import Autonomy, Mode
from hob.guard.settings import PolicySettings

T = TypeVar("T", bound=StrEnum)
PRIVATE_FILES = frozenset({"USER.md", "MEMORY.md"})
"""Identity files whose text is private to the owner."""

_READING = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
_MAX_HEARD = 60  # entries searched for the names of tainting sources
_LONGEST_NAME = 80
_ELEMENT = re.compile(r"""^\s*-\s+'?(\w+)(?: "([^"\n]*)")?[^\n]*?\[ref=(\w+)\]""", re.MULTILINE)
"""An element in a page's snapshot: `- button "Pay now" [ref=e12]`."""
_MAX_TURNS = 8  # whose steps are cached
_MAX_SHOWN = 1_000  # entries of the session, more than a prompt shows


class SandboxPort(Protocol):
    """The sandbox of commands, detected when it is first needed."""

    async def sandbox(self) -> Sandbox:
        """Return the sandbox as the guard sees it. Raises NotConfigured."""


class TurnPolicyInputs:
    """Implements the judge's `PolicyInputs` over the store."""

    def __init__(
        self,
        settings: PolicySettings,
        sessions: Sessions,
        journal: Journal,
        transcript: Transcript,
        reader: ArgumentReader,
        specs: Callable[[], Mapping[str, ToolSpec]],
        sandbox: SandboxPort,
        identity: Callable[[], Sequence[BootstrapFile]],
        contacts: Callable[[], Mapping[str, tuple[str, ...]]],
        visible_entries: Callable[[TranscriptView], Sequence[TranscriptEntry]],
    ) -> None:
        """`visible_entries` returns the entries of earlier turns that a prompt still shows in full."""
        self._settings = settings
        self._sessions = sessions
        self._journal = journal
        self._transcript = transcript
        self._reader = reader
        self._specs = specs
        self._confining = sandbox
        self._identity = identity
        self._contacts = contacts
        self._visible_entries = visible_entries
        self._known: OrderedDict[TurnId, tuple[Step, ...]] = OrderedDict()

    async def policy_input(self, turn: Turn, spec: ToolSpec) -> PolicyInput:
        session = await self._sessions.get(turn.session)
        steps = await self._steps(turn.id)
        # detecting the sandbox takes a moment, and only commands are judged by it
        sandbox = await self._sandbox() if Effect.EXECUTES in spec.effects else Sandbox()
        # an earlier turn's reads may still be in the prompt; a command that may send is asked about anyway
        sends = Effect.COMMUNICATES in spec.effects and Effect.EXECUTES not in spec.effects
        view = await self._transcript.load_view(turn.session, _MAX_SHOWN) if sends else TranscriptView()
        made = (*_calls_before(self._visible_entries(view)), *_calls_of_turn(steps))
        shown = (*_calls_before(view.entries), *_calls_of_turn(steps))
        files = (Private(text=each.text) for each in self._identity() if each.name in PRIVATE_FILES)
        return PolicyInput(
            mode=_member(Mode, session.permission or self._settings.mode),
            autonomy=_member(Autonomy, session.autonomy or self._settings.autonomy),
            model=next((step.model for step in reversed(steps) if isinstance(step, ModelAsked)), ""),
            depth=max((inbound.hops for inbound in turn.inbounds), default=0),
            sandbox=sandbox,
            private=(*files, *_summary_text(view), *self._private_reads(made, sandbox)),
            searched=self._searched_urls(shown) if sends else frozenset(),
            contacts=self._contacts(),
            elements=_elements_of(spec, (*_calls_of_turn(steps), *_calls_before(view.entries))),
            untrusted_sources=await self._untrusted_sources(turn, spec, steps),
            voice_texts=tuple(_voice_texts(turn, steps)),
        )

    async def _steps(self, turn: TurnId) -> Sequence[Step]:
        """Return the turn's steps, which only grow: each is read once, however many calls are judged."""
        known = self._known.pop(turn, ())
        steps = self._known[turn] = (*known, *await self._journal.load_steps(turn, len(known)))
        if len(self._known) > _MAX_TURNS:
            self._known.popitem(last=False)
        return steps

    async def _untrusted_sources(self, turn: Turn, spec: ToolSpec, steps: Sequence[Step]) -> tuple[str, ...]:
        """Return the untrusted sources in the prompt, by names that people know, newest first.

        Searched only if a question is possible, and in earlier turns only if this one has none.
        """
        if spec.effects <= _READING:
            return ()
        results = {step.result.call: step.result for step in steps if isinstance(step, ToolReceived)}
        foreign = {call for call, result in results.items() if not result.label.trusted}
        calls = [step.call for step in reversed(steps) if isinstance(step, ToolIntended) and step.call.id in foreign]
        names = dict.fromkeys(self._source_name(call) for call in calls)
        files = (each.name for each in self._identity() if not each.label.trusted)
        names |= dict.fromkeys(
            translatable("{name} (not accepted; `hob accept` makes it yours)", name=name) for name in files
        )
        return tuple(names) or tuple([name async for name in self._earlier_sources(turn)])

    async def _earlier_sources(self, turn: Turn) -> AsyncIterator[str]:
        view = await self._transcript.load_view(turn.session, _MAX_HEARD)
        entries = self._visible_entries(view)
        foreign = {each.call for each in entries if each.call is not None and not each.label.trusted}
        made = [call for each in reversed(entries) for call in each.calls if call.id in foreign]
        for name in dict.fromkeys(map(self._source_name, made)):
            yield name
        if view.summary is not None and not view.summary.label.trusted:
            yield translatable("the summary of what was said before")

    def _source_name(self, call: ToolCall) -> str:
        """Return the files or web pages that a call has read, as people name them, else the tool's output."""
        arguments = _arguments(call)
        reading = self._roles(call.name, arguments)
        names = (*reading.paths, *reading.urls) if reading is not None else ()
        paths = [arguments.get(name) for name in names]
        named = ", ".join(path[:_LONGEST_NAME] for path in paths if isinstance(path, str) and path)
        return named or translatable("output of {tool}", tool=call.name)

    async def _sandbox(self) -> Sandbox:
        try:
            return await self._confining.sandbox()
        except NotConfigured as error:
            return Sandbox(confined=False, versioned=False, missing=str(error))

    def _private_reads(self, calls: Iterable[tuple[ToolCall, str]], sandbox: Sandbox) -> Iterator[Private]:
        """Yield the owner's private data that these calls have read."""
        specs = self._specs()
        for call, told in calls:
            spec = specs.get(call.name)
            if spec is not None and Effect.READS_PRIVATE in spec.effects:
                analysis = read_call(call, spec, self._reader, sandbox)
                if analysis is None or analysis.reads_private:
                    read = (analysis.paths or analysis.things or analysis.names) if analysis else ()
                    yield Private(read or (spec.name,), told)

    def _searched_urls(self, calls: Iterable[tuple[ToolCall, str]]) -> frozenset[str]:
        """Return the URLs in search results of this turn and of recent ones."""
        return frozenset().union(*(urls_in(told) for call, told in calls if self._is_search(call.name)))

    def _is_search(self, tool: str) -> bool:
        roles = self._roles(tool)
        return roles is not None and roles.searches

    def _roles(self, tool: str, arguments: Mapping[str, object] = MappingProxyType({})) -> ArgumentRole | None:
        spec = self._specs().get(tool)
        return spec.used_by(arguments).roles if spec is not None else None


def _voice_texts(turn: Turn, steps: Sequence[Step]) -> Iterator[str]:
    """Yield what the owner said in this turn's voice messages."""
    inbounds = (*turn.inbounds, *turn.joined)
    own = {each.id for each in inbounds if each.sender.cls is SenderClass.OWNER and not (each.hops or each.background)}
    for step in steps:
        if isinstance(step, Transcribed) and step.inbound in own and step.label == OWNER_LABEL:
            yield step.text


def _arguments(call: ToolCall) -> Mapping[str, object]:
    return parse_json_object(call.arguments or "{}") or {}


def _elements_of(spec: ToolSpec, calls: Iterable[tuple[ToolCall, str]]) -> Mapping[str, str]:
    """Return what the elements are that the tool showed in its newest results (button 'Pay now'), by reference."""
    if not any(each.roles.elements for each in spec.variants.values()):
        return {}
    found: dict[str, str] = {}
    for call, told in calls:
        if call.name == spec.name:
            for role, name, ref in _ELEMENT.findall(told):
                found.setdefault(ref, f"{role} '{name}'" if name else f"{role} {ref}")
    return found


def _calls_of_turn(steps: Sequence[Step]) -> Iterator[tuple[ToolCall, str]]:
    """Yield a turn's calls with their results. Ids may repeat; a result follows its own call."""
    told: dict[CallId, str] = {}
    for step in reversed(steps):
        if isinstance(step, ToolReceived):
            told[step.result.call] = step.result.text
        if isinstance(step, ToolIntended):
            yield step.call, told.pop(step.call.id, "")


def _calls_before(entries: Sequence[TranscriptEntry]) -> Iterator[tuple[ToolCall, str]]:
    """Yield the calls of earlier turns with their results."""
    told: dict[CallId, str] = {}
    for entry in reversed(entries):
        if entry.call is not None:
            told[entry.call] = entry.text
        for call in entry.calls:
            yield call, told.pop(call.id, "")


def _summary_text(view: TranscriptView) -> Iterator[Private]:
    if view.summary is not None:
        yield Private(text=view.summary.text)


def _member(kind: type[T], word: str) -> T:
    """Return the member with this value; the first (strictest) if unknown, as stored by another version."""
    return next((each for each in kind if each.value == word), next(iter(kind)))
