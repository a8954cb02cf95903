"""Compaction: when a session is summarised, which messages the summary replaces, and what happens if it fails.

A history too long for one call is summarised piece by piece, each piece together with the summary of those before it.
Nothing changes until all of it has succeeded, and the messages stay stored: undoing the summary shows them again.

If a model cannot write a summary, an outline replaces the messages: the beginning of each. That model is tried again
after a growing number of messages.

A summary is trusted no more than its input. It is used for days, so one made from untrusted text would taint everything
after it. In a session of the owner alone it is therefore made from trusted text only: untrusted text is included as the
stub that the prompt shows once it has expired, through which it can be read back. In other sessions the summary is made
from everything, and is untrusted.
"""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace

from hob.agent.budget.accounting import stream_outside
from hob.agent.budget.budget import Budget, Reservation
from hob.agent.commands.model_names import real_name
from hob.agent.compaction.summaries import INSTRUCTIONS, SummaryDraft, finish_text, judge_draft, outline, read_draft
from hob.agent.ports import can_route
from hob.agent.prompt.context_room import ContextRoom, Room
from hob.agent.prompt.rendering import Marks
from hob.agent.prompt.tokens import estimate_tokens, shorten
from hob.agent.prompt.untrusted_expiry import hide, summary_stub
from hob.agent.prompt.window import back_to_safe, pair
from hob.agent.remarks import render
from hob.agent.sessions import is_group
from hob.agent.settings import AgentSettings
from hob.agent.turn.turn import TRANSIENT_FAULTS
from hob.core.clock import Clock
from hob.core.errors import BudgetExceeded, ModelError, ModelFault
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, TraceId, new_event_id, new_span_id, new_trace_id
from hob.core.models import ModelReply, ModelRequest, Remark, StopReason, TranscriptEntry, UserMessage
from hob.core.ports.journal import Transcript
from hob.core.ports.model import Model
from hob.core.trust.labels import HOB_LABEL, Label, Origin, SenderClass, Trust, combine_trust, least_trusted
from hob.core.turns import Summary, TranscriptView
from hob.core.values import dataclass

_MAX_ENTRIES = 5_000  # newest entries that are read; older ones are reported as missing
_MAX_INPUT = 120_000  # tokens of the newest messages that go into one summary
_ATTEMPTS = 2
_MAX_FAILURES = 1_000  # sessions remembered; forgetting one costs a call
_MAX_DOUBLINGS = 6
_MIN_MESSAGES = 4  # a shorter session would gain nothing
_AUTOMATIC = frozenset({"messages", "tokens", "overflow"})
_UNRELATED_FAULTS = TRANSIENT_FAULTS | {
    ModelFault.AUTH,
    ModelFault.BILLING,
    ModelFault.NOT_CONFIGURED,
    ModelFault.SETTINGS,
}
"""Faults that do not show whether the model can write a summary."""
_TOOL_CHARS = 600
_CALL_CHARS = 300
_TASK = "summary"
_TEXT_CHARS = 8_000


@dataclass(frozen=True, slots=True)
class Compacted:
    """A stored summary that replaces `messages` entries."""

    summary: Summary
    messages: int


@dataclass(frozen=True, slots=True)
class NotCompacted:
    """No summary was made, for this reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class _Account:
    """Session, sender class and model to which a compaction's calls are charged."""

    trace: TraceId
    session: SessionKey
    sender: SenderClass
    model: str
    """Model name in the calls; `asked` is the reference it stands for."""
    asked: str


@dataclass(frozen=True, slots=True)
class _Backoff:
    """Why no model is used for a session's summary before entry `until`, after `failures` in a row."""

    why: str
    cannot: bool
    failures: int
    until: int


class Compactor:
    """Summarises the older part of a conversation that no longer fits; backs off after failures."""

    def __init__(
        self,
        settings: AgentSettings,
        *,
        model: Model,
        transcript: Transcript,
        budget: Budget,
        clock: Clock,
        salt: bytes = b"",
        context_room: ContextRoom | None = None,
    ) -> None:
        self._settings = settings
        self._model = model
        self._transcript = transcript
        self._clock = clock
        self._budget = budget
        self._marks = Marks(salt)
        self._context_room = context_room or ContextRoom()
        self._under_way: set[SessionKey] = set()
        self._backoffs: dict[SessionKey, _Backoff] = {}

    def needed(self, view: TranscriptView, prompt_tokens: int, model: str = "") -> str | None:
        """Return `messages` or `tokens` if the session has grown too long, None if not or if nothing can be cut.

        The short prompt of a small model is always full, so only messages count there.
        """
        if view.total <= min(self._settings.window, _MIN_MESSAGES):
            return None
        if view.total > self._settings.compact_above:
            return "messages"
        room = self._room(model)
        full = prompt_tokens > self._settings.compact_at * room.prompt
        return "tokens" if full and not room.small else None

    async def compact(
        self, session: SessionKey, *, reason: str, model: str, keep: int | None = None
    ) -> Compacted | NotCompacted:
        """Summarise all but the last `keep` messages (`window` if not given). Raises StoreErrors.

        A session is summarised only once at a time: turns continue meanwhile, and each requests a summary when it ends.
        """
        if session in self._under_way:
            return NotCompacted("a summary is being made already")
        self._under_way.add(session)
        try:
            return await self._compact(session, reason, model, keep)
        finally:
            self._under_way.discard(session)

    async def _compact(
        self, session: SessionKey, reason: str, model: str, keep: int | None
    ) -> Compacted | NotCompacted:
        began = self._clock.monotonic()
        view = await self._transcript.load_view(session, _MAX_ENTRIES)
        if reason == "messages" and self.needed(view, 0) is None:
            return NotCompacted("a summary was made meanwhile")
        entries = view.entries
        usual = min(self._settings.window, view.total // 2) if reason == "tokens" else self._settings.window
        keep = usual if keep is None else max(1, keep)
        cut = back_to_safe(entries, len(entries) - keep, keep) if len(entries) > keep else 0
        head = entries[:cut]
        if not head:
            return NotCompacted("nothing is old enough to be summarised")
        account = _Account(new_trace_id(), session, _sender_of(head), model, "")
        before, told = view.summary, pair(head)
        if account.sender is SenderClass.OWNER and not is_group(session):
            before, told = _hide_summary(before), hide(told)
        newest = self._select_newest(told)
        missing = view.total - len(entries) + len(told) - len(newest)
        draft = await self._make_draft(before, newest, account, entries[-1].n, wanted=reason not in _AUTOMATIC)
        if isinstance(draft, _Backoff) and not (draft.cannot and reason in _AUTOMATIC):
            return NotCompacted(draft.why)
        if not await self._is_unchanged(session, view, head):
            return NotCompacted("the session changed meanwhile")
        label = Label(Origin.MODEL, _trust_of(before, newest))
        event = self._event(account, EventKind.COMPACTION, reason, "ok", began)
        if isinstance(draft, _Backoff):
            text = outline(before.text if before else "", newest, missing, 3 * self._settings.compact_tokens)
            event, draft = replace(event, status="outline", text=draft.why), SummaryDraft(text)
        else:
            text = finish_text(draft, newest, missing)
        summary = Summary(head[-1].n, text, label, draft.model)
        await self._transcript.summarise(session, summary, event)
        return Compacted(summary, len(head))

    async def _make_draft(
        self, before: Summary | None, told: Sequence[TranscriptEntry], account: _Account, n: int, *, wanted: bool
    ) -> SummaryDraft | _Backoff:
        """Return a model's draft, or why there is none. In back-off no model is called unless it is `wanted`."""
        rest = self._backoffs.get(account.session)
        if rest is not None and n < rest.until and not wanted:
            return rest
        cannot = True
        try:
            asked = await real_name(self._model, account.model, _TASK)
            made = await self._summarise(before, told, replace(account, asked=asked))
        except ModelError as error:
            made, cannot = f"the model gave no summary ({error.fault}: {error})", error.fault not in _UNRELATED_FAULTS
        except BudgetExceeded as error:
            made, cannot = str(error), False
        if isinstance(made, SummaryDraft):
            self._backoffs.pop(account.session, None)
            return replace(made, model=asked)
        if len(self._backoffs) >= _MAX_FAILURES:
            self._backoffs.clear()
        failures = 1 if rest is None else rest.failures + 1
        until = n + self._settings.window * 2 ** min(failures - 1, _MAX_DOUBLINGS)
        rest = self._backoffs[account.session] = _Backoff(made, cannot, failures, until)
        return rest

    def _select_newest(self, told: list[TranscriptEntry]) -> list[TranscriptEntry]:
        """Return the newest entries, up to the maximum input of a summary."""
        left = _MAX_INPUT
        for place in range(len(told) - 1, -1, -1):
            left -= estimate_tokens(self._render_line(told[place], _MAX_INPUT))
            if left < 0:
                return told[place + 1 :]
        return told

    async def _summarise(
        self, summary: Summary | None, head: Sequence[TranscriptEntry], account: _Account
    ) -> SummaryDraft | str:
        """Summarise piece by piece, or return why it failed."""
        before = summary.text if summary else ""
        trust = summary.label.trust if summary else Trust.TRUSTED
        draft: SummaryDraft | str = "nothing to summarise"
        room = self._room(account.asked).prompt // 2
        for piece in self._split(head, room):
            draft = await self._ask(self._question(before, trust, piece, room), piece, before, account)
            if isinstance(draft, str):
                return draft
            before = draft.text
            trust = Trust.TRUSTED if trust is Trust.TRUSTED and _all_trusted(piece) else Trust.UNTRUSTED
        return draft

    async def _ask(
        self, question: str, piece: Sequence[TranscriptEntry], before: str, account: _Account
    ) -> SummaryDraft | str:
        problem, draft = "", SummaryDraft("")
        for attempt in range(_ATTEMPTS):
            asked = f"{question}\n\nYour last attempt could not be used: {problem}." if problem else question
            reply = await self._call(asked, account)
            draft = read_draft(reply.text)
            if reply.stop in (StopReason.LENGTH, StopReason.FILTER):
                problem = "it was cut off; be shorter"
                continue
            problem = judge_draft(draft, piece, question, last=attempt == _ATTEMPTS - 1)
            if not problem:
                return draft
        return f"the model's summary could not be used: {problem}"

    async def _call(self, question: str, account: _Account) -> ModelReply:
        request = ModelRequest(
            account.asked,
            INSTRUCTIONS,
            (UserMessage(question),),
            max_tokens=self._room(account.asked).answer,
            patience=self._settings.compact_patience_seconds,
            task=_TASK,
        )
        remarks: list[Remark] = []
        if can_route(self._model):
            route = await self._model.route(replace(request, model=account.model))
            request = route.request
            remarks.extend(route.remarks)
        async with self._budget.reserve(
            account.session, account.sender, request, estimate_tokens(INSTRUCTIONS + question)
        ) as held:
            return await self._ask_for_summary(held, question, account, remarks)

    async def _ask_for_summary(
        self, held: Reservation, question: str, account: _Account, remarks: list[Remark]
    ) -> ModelReply:
        began = self._clock.monotonic()
        reply = ModelReply("")

        def event_of(name: str, status: str) -> TimelineEvent:
            told = "\n".join(dict.fromkeys(render(remark, self._settings.language) for remark in remarks))
            return replace(self._event(account, EventKind.MODEL, name, status, began), text=told)

        try:
            async with aclosing(stream_outside(self._budget, self._model, held, event_of)) as events:
                async for event in events:
                    if isinstance(event, ModelReply):
                        reply = event
                    elif isinstance(event, Remark):
                        remarks.append(event)
        except ModelError as error:
            if error.fault is ModelFault.CONTEXT_OVERFLOW:
                tokens, now = estimate_tokens(INSTRUCTIONS + question), self._clock.now().timestamp()
                await self._context_room.learn(held.request.first, tokens, held.request.max_tokens, str(error), now)
            raise
        return reply

    def _event(self, account: _Account, kind: EventKind, name: str, status: str, began: float) -> TimelineEvent:
        seconds = self._clock.monotonic() - began
        return TimelineEvent(
            new_event_id(),
            account.trace,
            new_span_id(),
            None,
            self._clock.now().timestamp() - seconds,
            kind,
            name,
            status,
            session=account.session,
            label=HOB_LABEL,
            seconds=seconds,
        )

    def _room(self, model: str) -> Room:
        return self._context_room.measure(model, self._settings, self._settings.compact_tokens)

    def _split(self, head: Sequence[TranscriptEntry], room: int) -> list[list[TranscriptEntry]]:
        """Split the entries into parts that fit into one request each; a call stays with its results."""
        pieces: list[list[TranscriptEntry]] = [[]]
        left = room
        for entry in pair(head):
            tokens = estimate_tokens(self._render_line(entry, room)) + 4
            if tokens > left and pieces[-1] and entry.role != "tool":
                pieces.append([])
                left = room
            left -= tokens
            pieces[-1].append(entry)
        return pieces

    def _question(self, before: str, trust: Trust, piece: Sequence[TranscriptEntry], room: int) -> str:
        lines = [self._render_line(entry, room) for entry in piece]
        if before:
            text = before if trust is Trust.TRUSTED else self._marks.wrap(before, Label(Origin.MODEL, trust), "before")
            lines.insert(0, f"Summary of what was said before:\n{text}\n\nWhat was said since:")
        return "\n\n".join(lines)

    def _render_line(self, entry: TranscriptEntry, room: int) -> str:
        """Return one entry as input for the summariser, shortened to a share of `room` tokens."""
        text = shorten(entry.text, min(2 * room, _TOOL_CHARS if entry.role == "tool" else _TEXT_CHARS))
        if text and not entry.label.trusted:
            text = self._marks.wrap(text, entry.label, entry.turn)
        calls = "".join(f"\n[calls {call.name} {shorten(call.arguments, _CALL_CHARS)}]" for call in entry.calls)
        return f"{entry.role.capitalize()}: {text}{calls}"

    async def _is_unchanged(self, session: SessionKey, view: TranscriptView, head: Sequence[TranscriptEntry]) -> bool:
        """Whether the session still shows what was summarised (no reset, undo or other summary since then)."""
        now = await self._transcript.load_view(session, _MAX_ENTRIES)
        return now.summary == view.summary and now.entries[: len(head)] == tuple(head)


def _all_trusted(entries: Sequence[TranscriptEntry]) -> bool:
    return all(entry.label.trusted for entry in entries)


def _sender_of(entries: Sequence[TranscriptEntry]) -> SenderClass:
    """Return the least trusted sender class among the authors, to which the summary's cost is charged."""
    classes = {cls.value: cls for cls in SenderClass}
    origins = (entry.label.origin.value for entry in entries if entry.role == "user")
    return least_trusted(classes[origin] for origin in origins if origin in classes)


def _hide_summary(summary: Summary | None) -> Summary | None:
    if summary is None or summary.label.trusted:
        return summary
    return replace(summary, text=summary_stub(summary), label=HOB_LABEL)


def _trust_of(summary: Summary | None, entries: Sequence[TranscriptEntry]) -> Trust:
    labels = [entry.label for entry in entries]
    if summary:
        labels.append(summary.label)
    return combine_trust(labels)
