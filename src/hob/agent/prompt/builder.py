"""Building the request of a turn's next model call.

The order serves the provider's prompt cache. First comes what stays the same for days (system text and tools), then the
summary, which changes at a compaction, then the conversation, which only grows, and at the end of the opening message
the volatile block. In the next turn that message is rendered without the block, so two requests share everything up to
it; within a turn each request extends the one before. The block stays in the opening message even if others join the
turn: moving it would change what was already sent.

An identity file the owner has not accepted precedes the conversation, between marks like all untrusted text.

The summary is a user message and not part of the system text: a model wrote it, perhaps from untrusted text, so it has
no more authority than its label allows.
"""

import asyncio
import sys
from collections import OrderedDict, deque
from collections.abc import Collection, Sequence
from dataclasses import replace

from hob.agent.ports import Bootstrap, PromptSection, TurnMemory
from hob.agent.prompt import context
from hob.agent.prompt.assessment import LINES, assess
from hob.agent.prompt.context_fitting import choose_tools, cost, estimate_tool, fit, write_tool
from hob.agent.prompt.context_room import ContextRoom, Room
from hob.agent.prompt.rendering import Marks, add_user, end_of, render
from hob.agent.prompt.repeats import without_repeats
from hob.agent.prompt.sections import FeatureSections, limit_tokens
from hob.agent.prompt.system import Audience, Prompt, SectionSize, SystemText, audience_of, build_system, unaccepted
from hob.agent.prompt.tokens import (
    PER_MESSAGE,
    count_bytes,
    estimate_messages,
    estimate_tokens,
    keep_beginning,
    shorten,
)
from hob.agent.prompt.untrusted_expiry import age, expire_summary
from hob.agent.prompt.window import pair, select
from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.agent.turn.entries import FILE_LABEL, opening_entries, step_entries
from hob.core.clock import Clock
from hob.core.content.files import BootstrapFile
from hob.core.errors import ModelError, ModelFault
from hob.core.ids import SessionKey, SpanId, TraceId, TurnId
from hob.core.memory import Memory, WorkingNote
from hob.core.models import ModelMessage, ModelRequest, Remark, TranscriptEntry, UserMessage
from hob.core.ports.memory import WorkingNotes
from hob.core.steps import ApprovalAnswered, ModelAsked, Step, Transcribed, UserAnswered, Waited
from hob.core.tools import ToolSpec
from hob.core.translation.language import translatable
from hob.core.translation.sentences import Sentence
from hob.core.trust.labels import HOB_LABEL, combine_trust
from hob.core.turns import Summary, TranscriptView, Turn, memory_scope
from hob.core.values import dataclass

UNACCEPTED_HEADING = "{name} as it stands now, not accepted by the owner (`hob accept {name}`):"
_OPEN_TURNS = 256  # turns whose volatile block is remembered; far more than run at once
_MAX_SYSTEMS = 16  # one per audience and model limit
_TOOL_SETS = 8  # sets of tools whose size is known: of conversations, of sub-agents, of small models
_MIN_ROOM_TOKENS = 250  # for the conversation if a learned limit leaves none; the server decides
_NO_ROOM = translatable("tools and identity files leave no room for a message")
_CALL_SYNTAX_TOKENS = 110  # a model without tool calls of its own needs instructions in the prompt
_MEMORIES = "memories"
_NOTE = "working memory"
_MEMORY_PARTS = frozenset({_MEMORIES, "observations", "goals"})
"""Parts removed once a turn may no longer be shown memories."""
_DENIED_PARTS = _MEMORY_PARTS | {_NOTE, "core profile"}
"""Parts removed once the policy denies memory."""
_WAKING_STEPS = (Waited, ApprovalAnswered, UserAnswered)


@dataclass(frozen=True, slots=True)
class _Shares:
    """Maximum size of parts, as divisors of the prompt. History is cut `step` entries at a time."""

    system: int
    profile: int
    summary: int
    volatile: int
    step: int | None = None


_USUAL = _Shares(system=2, profile=12, summary=5, volatile=7)
_SMALL = _Shares(system=3, profile=20, summary=10, volatile=10, step=4)
_SMALL_TOOLS_DIVISOR = 4  # divisor of the prompt: limit of a small model's tools


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """State when a turn began or woke: its volatile block, and the time from which all ages are measured."""

    parts: tuple[tuple[str, str], ...]
    text: str
    at: float
    sections: tuple[TranscriptEntry, ...] = ()
    """Untrusted sections, which must not be in a block written by Hob."""
    note: tuple[TranscriptEntry, ...] = ()
    """The working note, if it is untrusted."""
    news: tuple[Remark, ...] = ()
    """Remarks for the reader, delivered separately from the answer."""
    memories: tuple[Memory, ...] = ()

    @property
    def untrusted(self) -> tuple[TranscriptEntry, ...]:
        """All that is untrusted."""
        return (*self.note, *self.sections)

    def without(self, names: Collection[str]) -> "_Snapshot":
        """Return a copy without these parts."""
        note = () if _NOTE in names else self.note
        if note == self.note and not any(text for name, text in self.parts if name in names):
            return self
        parts = tuple((each, "" if each in names else text) for each, text in self.parts)
        return replace(self, parts=parts, text=context.block([text for _, text in parts]), note=note, memories=())


class PromptBuilder:
    """Builds the request of a turn's next model call.

    `salt` is a secret of the home that is part of the marks around untrusted text. Even without one an author cannot
    guess them, since a turn's id is random and created after the message arrived.
    """

    def __init__(
        self,
        settings: AgentSettings,
        clock: Clock,
        bootstrap: Bootstrap,
        memory: TurnMemory | None = None,
        salt: bytes = b"",
        context_room: ContextRoom | None = None,
        notes: WorkingNotes | None = None,
        sections: Sequence[PromptSection] = (),
    ) -> None:
        self._settings = settings
        self._notes = notes
        self._clock = clock
        self._bootstrap = bootstrap
        self._memory = memory
        self._marks = Marks(salt)
        self._features = FeatureSections(sections)
        self._context_room = context_room or ContextRoom()
        self._zone = zone_of(settings.timezone)
        self._snapshots: OrderedDict[tuple[TurnId, int], _Snapshot] = OrderedDict()
        self._systems: dict[tuple[Audience, int, bool], tuple[tuple[BootstrapFile, ...], SystemText]] = {}
        self._tool_sections: deque[tuple[tuple[ToolSpec, ...], SectionSize]] = deque(maxlen=_TOOL_SETS)

    async def build(
        self,
        turn: Turn,
        steps: Sequence[Step],
        view: TranscriptView,
        tools: tuple[ToolSpec, ...],
        model: str,
        *,
        keep: int | None = None,
        patience: float,
    ) -> Prompt:
        """Return the request for this turn after these steps, with at most `keep` entries of history.

        Raises ModelError (context overflow) if tools and identity alone leave no room for a message.
        """
        settings = self._settings
        limits = self._context_room.measure(model, settings, settings.max_tokens)
        budget, shares = limits.prompt, _SMALL if limits.small else _USUAL
        tools, tool_section = self._tools_that_fit(tools, steps, limits)
        snapshot = await self._get_snapshot(turn, steps, view, model)
        audience = audience_of(turn)
        stable = await self._features.stable(turn, view, audience, budget // shares.profile)
        stable = stable if self._permits(turn, model) else stable.without(_DENIED_PARTS)
        files = self._bootstrap.load()
        system = self._system(files, audience, budget // shares.system, limits.small).with_parts(stable.parts)
        untrusted = _untrusted_entries(unaccepted(files, audience), settings, budget // shares.summary)
        said = opening_entries(turn, snapshot.at)
        opening, later = (*said, *stable.untrusted, *snapshot.untrusted), step_entries(turn, steps, snapshot.at)
        own = pair([*opening, *later])
        past, history = self._visible_history(turn, view, keep, snapshot.at)
        summary = _summary_entry(past, budget // shares.summary)

        volatile = limit_tokens(snapshot.text, budget // shares.volatile)
        fixed = system.tokens + tool_section.tokens + estimate_tokens(volatile) + 3 * PER_MESSAGE + 20
        fixed += _CALL_SYNTAX_TOKENS if limits.small and tools else 0
        room = budget - fixed - sum(map(cost, (*untrusted, *summary)))
        if room < 60:  # learned limits are estimates, the configured one is not
            room = min(_MIN_ROOM_TOKENS, room + limits.maximum - budget)
        if room < 60:
            raise ModelError(ModelFault.CONTEXT_OVERFLOW, _NO_ROOM)
        whole = _message_chars(own)
        history, own = fit(history, own, room, shares.step or max(1, settings.window // 2))
        remarks = _shortened_remark(model, whole) if _message_chars(own) < whole else ()
        history, own = without_repeats(history, own)

        until = _opening_length(own, len(opening))
        messages, ends = self._render_messages((untrusted, summary, history, own[:until]), volatile, own[until:])
        trust = combine_trust(entry.label for entry in (*untrusted, *summary, *history, *own))
        request = ModelRequest(
            model, system.text, tuple(messages), tools, limits.answer, cache_key=turn.session, patience=patience
        )
        tokens = system.tokens + tool_section.tokens + PER_MESSAGE + estimate_messages(messages)
        parts = (
            *system.sections,
            tool_section,
            *self._measure_conversation(untrusted, summary, history, own, snapshot),
        )
        sections = tuple(section for section in parts if section.bytes)
        memories = snapshot.memories if _is_first_request(steps) else ()
        return Prompt(request, sections, trust, tokens, budget, (*snapshot.news, *remarks), memories, ends)

    def _render_messages(
        self, parts: Sequence[Sequence[TranscriptEntry]], volatile: str, rest: Sequence[TranscriptEntry]
    ) -> tuple[list[ModelMessage], tuple[tuple[int, int], ...]]:
        """Return the messages, and their end positions after each part and after the volatile block."""
        messages: list[ModelMessage] = []
        ends: list[tuple[int, int]] = []
        for part in parts:
            render(messages, part, self._marks)
            ends.append(end_of(messages))
        if volatile:
            add_user(messages, UserMessage(volatile))
        ends.append(end_of(messages))
        render(messages, rest, self._marks)
        return messages, tuple(ends)

    async def preview(
        self, session: SessionKey, view: TranscriptView, tools: tuple[ToolSpec, ...], model: str
    ) -> Prompt:
        """Return the prompt of the owner's next message, without that message."""
        turn = Turn(TurnId(""), session, TraceId(""), SpanId(""), ())
        return await self.build(turn, (), view, tools, model, patience=0)

    async def _get_snapshot(self, turn: Turn, steps: Sequence[Step], view: TranscriptView, model: str) -> _Snapshot:
        if not turn.id:  # a preview opens no turn; it shows the session as it is now
            return await self._take_snapshot(turn, view, model)
        key = (turn.id, sum(isinstance(step, _WAKING_STEPS) for step in steps))
        snapshot = self._snapshots.get(key)
        if snapshot is None:
            snapshot = await self._take_snapshot(turn, view, model, steps)
            self._snapshots[key] = snapshot
            while len(self._snapshots) > _OPEN_TURNS:
                self._snapshots.popitem(last=False)
        # what was withdrawn is gone from this step on
        if not self._permits(turn, model):
            return snapshot.without(_DENIED_PARTS)
        if self._memory is not None and not self._memory.allowed(turn, model):
            return snapshot.without(_MEMORY_PARTS)
        return snapshot

    def _permits(self, turn: Turn, model: str) -> bool:
        return self._memory is None or self._memory.permitted(turn, model)

    async def _take_snapshot(
        self, turn: Turn, view: TranscriptView, model: str, steps: Sequence[Step] = ()
    ) -> _Snapshot:
        now = self._clock.now()
        spoken = (step.text for step in steps if isinstance(step, Transcribed) and step.label != FILE_LABEL)
        text = "\n".join(filter(None, (*(inbound.text for inbound in turn.inbounds), *spoken)))
        memories, note, written = await asyncio.gather(
            self._recall(turn, view, model, text),
            self._load_note(turn, model),
            self._features.now(turn, now.timestamp()),
        )
        lines, shown = context.memory_lines(memories, self._settings.memory_chars, self._zone)
        if self._memory is not None and _count_trusted(shown) < _count_trusted(memories):
            self._memory.overflowed()
        sent = context.sent_line(turn.inbounds, now, self._zone)
        note_line, untrusted = self._render_note(turn, note, now.timestamp())
        parts = (
            ("clock", "\n".join(filter(None, (context.clock_line(now, self._zone), sent)))),
            (_MEMORIES, context.titled_list("Memories", lines)),
            (_NOTE, note_line),
            *written.parts,
            ("waiting work", context.titled_list("Waiting work", context.waiting_lines(view.parked))),
            ("assessment", LINES[assess(text)]),
        )
        news = tuple(await self._memory.news(turn)) if self._memory is not None and turn.inbounds else ()
        block = context.block([part for _, part in parts])
        return _Snapshot(parts, block, now.timestamp(), written.untrusted, untrusted, news, tuple(shown))

    async def _recall(self, turn: Turn, view: TranscriptView, model: str, text: str) -> Sequence[Memory]:
        if self._memory is None or not (text and self._settings.recall_limit and self._memory.allowed(turn, model)):
            return ()
        shown_from = min((entry.n for entry in view.entries), default=sys.maxsize)
        return await self._memory.recall_for(turn, text, self._settings.recall_limit, shown_from)

    async def _load_note(self, turn: Turn, model: str) -> WorkingNote | None:
        """Return the session's note, or its person's note for all conversations."""
        if self._notes is None or not self._permits(turn, model):
            return None
        return await self._notes.load(turn.session, SessionKey(memory_scope(turn).person))

    def _render_note(self, turn: Turn, note: WorkingNote | None, now: float) -> tuple[str, tuple[TranscriptEntry, ...]]:
        """Return the working note as a line of the block, or, if untrusted and fresh, as entries to put between marks.

        An untrusted note expires like the tainted turn that wrote it, so that the session becomes trusted again.
        """
        if note is None:
            return "", ()
        if note.label.trusted:
            return context.note_line(note.text), ()
        fresh = now - note.at < self._settings.taint_minutes * 60
        if not fresh and all(inbound.label.trusted for inbound in turn.inbounds):
            return context.hidden_note_line(len(note.text)), ()
        source = f"{turn.id} note"
        heading = TranscriptEntry(0, "user", "Working note:", HOB_LABEL, source, now)
        return "", (heading, TranscriptEntry(0, "user", note.text, note.label, source, now))

    def _visible_history(
        self, turn: Turn, view: TranscriptView, keep: int | None, at: float
    ) -> tuple[Summary | None, list[TranscriptEntry]]:
        """Return the summary and the history, as the sender of this turn may see them."""
        history = pair(select(view, self._settings, keep))
        if not all(inbound.label.trusted for inbound in turn.inbounds):
            return view.summary, history
        return expire_summary(view.summary, history, at, self._settings), age(history, at, self._settings)

    def _system(self, files: tuple[BootstrapFile, ...], audience: Audience, room: int, small: bool) -> SystemText:
        known = self._systems.get((audience, room, small))
        if known is None or known[0] is not files:
            if len(self._systems) >= _MAX_SYSTEMS:
                self._systems.clear()
            text = build_system(files, audience, self._settings, room, keep_beginning if small else shorten)
            known = self._systems[audience, room, small] = (files, text)
        return known[1]

    def _tools_that_fit(
        self, tools: tuple[ToolSpec, ...], steps: Sequence[Step], limits: Room
    ) -> tuple[tuple[ToolSpec, ...], SectionSize]:
        """Return all tools if they take at most a third of the prompt; a small model gets few."""
        maximum, room = len(tools), limits.prompt // 3
        if limits.small:
            maximum, room = self._settings.small_tools, limits.prompt // _SMALL_TOOLS_DIVISOR
        elif (section := self._measure_tools(tools)).tokens <= room:
            return tools, section
        tools = choose_tools(tools, steps, maximum, room)
        return tools, self._measure_tools(tools)

    def _measure_tools(self, tools: tuple[ToolSpec, ...]) -> SectionSize:
        section = next((section for known, section in self._tool_sections if known == tools), None)
        if section is None:
            size = sum(count_bytes(write_tool(tool)) + 40 for tool in tools)
            section = SectionSize("tools", size, sum(map(estimate_tool, tools)), True)
            self._tool_sections.append((tools, section))
        return section

    def _measure_conversation(
        self,
        untrusted: list[TranscriptEntry],
        summary: list[TranscriptEntry],
        history: list[TranscriptEntry],
        own: list[TranscriptEntry],
        snapshot: _Snapshot,
    ) -> list[SectionSize]:
        return [
            _measure("not accepted", untrusted, True),
            _measure("summary", summary, True),
            _measure("history", history, True),
            _measure("this turn", own, False),
            *(SectionSize(name, count_bytes(text), estimate_tokens(text), False) for name, text in snapshot.parts),
        ]


def _count_trusted(memories: Sequence[Memory]) -> int:
    return sum(memory.label.trusted for memory in memories)


def _is_first_request(steps: Sequence[Step]) -> bool:
    """Whether no model was called since the turn began or woke."""
    last = next((step for step in reversed(steps) if isinstance(step, (ModelAsked, *_WAKING_STEPS))), None)
    return not isinstance(last, ModelAsked)


def _message_chars(own: Sequence[TranscriptEntry]) -> int:
    """Return the number of characters people wrote in this turn."""
    return sum(len(entry.text) for entry in own if entry.role == "user" and entry.label != HOB_LABEL)


def _shortened_remark(model: str, length: int) -> tuple[Remark, ...]:
    return (Remark(Sentence.MESSAGE_SHORTENED, (("model", model), ("length", str(length)))),)


def _opening_length(own: Sequence[TranscriptEntry], opening: int) -> int:
    """Return how many of this turn's entries belong to the opening message."""
    first = next((place for place, entry in enumerate(own) if entry.role != "user"), len(own))
    return min(opening, first)


def _measure(name: str, entries: Sequence[TranscriptEntry], cached: bool) -> SectionSize:
    calls = [call.arguments for entry in entries if entry.calls for call in entry.calls]
    size = sum(map(count_bytes, [entry.text for entry in entries])) + sum(map(count_bytes, calls))
    return SectionSize(name, size, sum(map(cost, entries)), cached)


def _untrusted_entries(files: Sequence[BootstrapFile], settings: AgentSettings, room: int) -> list[TranscriptEntry]:
    """Return entries for unaccepted files, in at most `room` tokens. Hob's headings stay outside the marks."""
    entries: list[TranscriptEntry] = []
    for file in files:
        source = f"file {file.name} {file.hash}"
        text = limit_tokens(shorten(file.text, settings.file_chars), room // len(files))
        entries.append(TranscriptEntry(0, "user", UNACCEPTED_HEADING.format(name=file.name), HOB_LABEL, source, 0.0))
        entries.append(TranscriptEntry(0, "user", text, file.label, source, 0.0))
    return entries


def _summary_entry(summary: Summary | None, room: int) -> list[TranscriptEntry]:
    """Return the summary as the first user message. Hob's heading stays outside the marks."""
    if summary is None:
        return []
    turn = f"summary {summary.upto}"
    heading = TranscriptEntry(0, "user", "Summary of the conversation so far:", HOB_LABEL, turn, 0.0)
    return [heading, TranscriptEntry(summary.upto, "user", limit_tokens(summary.text, room), summary.label, turn, 0.0)]
