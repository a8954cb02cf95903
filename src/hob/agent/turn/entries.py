"""A turn as transcript entries, used both in the prompt while it runs and in the transcript at its end.

Using the same values keeps the prefix of the next request identical to this one's, so that the provider's cache hits.
"""

from collections.abc import Iterator, Sequence

from hob.core.errors import ModelFault
from hob.core.ids import CallId
from hob.core.messages import Attachment, Inbound, OutboundKind, Quoted
from hob.core.models import Continuation, Image, Role, TranscriptEntry
from hob.core.states import TurnState
from hob.core.steps import (
    ModelAsked,
    ModelReplied,
    Noted,
    Said,
    Steered,
    Step,
    ToolReceived,
    Transcribed,
    UserAnswered,
)
from hob.core.tools import ToolCall
from hob.core.translation.code_words import FAULT_WORDS
from hob.core.trust.labels import HOB_LABEL, OWNER_LABEL, Label, Origin, Trust
from hob.core.trust.pasted import has_pasted_text, is_long, split_pasted
from hob.core.turns import Turn

NOT_ANSWERED = "[No answer was given to this: {reason}.]"
STOPPED = "[The owner stopped this.]"
_TRANSCRIPTION_PROBLEMS = {
    "": "nothing was heard",
    ModelFault.NOT_CONFIGURED.value: "no model for it is set (model.transcription)",
}
FILE_LABEL = Label(Origin.FILE, Trust.UNTRUSTED)
PASTED_LABEL = Quoted("").label


def opening_entries(turn: Turn, at: float) -> tuple[TranscriptEntry, ...]:
    """Return the entries of the turn's own messages: text, quoted parts and attachments, each with its label."""
    return tuple(entry for inbound in turn.inbounds for entry in _inbound_entries(turn.id, inbound, at))


def step_entries(turn: Turn, steps: Sequence[Step], at: float) -> tuple[TranscriptEntry, ...]:
    """Return the entries of the steps, in order; each reply of the model is trusted no more than its request.

    A reply that was withheld (denied by a hook, or the turn was stopped) is omitted.
    """
    entries: list[TranscriptEntry] = []
    said = steps[-1] if steps else None
    withheld = isinstance(said, Said) and said.kind is not OutboundKind.REPLY
    last = max((place for place, step in enumerate(steps) if isinstance(step, ModelAsked)), default=-1)
    received = {step.result.call for step in steps if isinstance(step, ToolReceived)}
    trust = Trust.UNTRUSTED
    for place, step in enumerate(steps):
        match step:
            case ModelAsked():
                trust = step.trust
            case ModelReplied() if withheld and place > last and not step.calls:
                pass
            case ModelReplied() if step.text or step.calls:
                label = Label(Origin.MODEL, trust)
                entries.append(
                    _entry(turn.id, "assistant", step.text, label, at, step.calls, continuation=step.continuation)
                )
            case ToolReceived(result=result):
                entries.append(
                    TranscriptEntry(
                        0,
                        "tool",
                        result.text,
                        result.label,
                        turn.id,
                        at,
                        call=result.call,
                        is_error=result.is_error,
                        images=result.images,
                    )
                )
            case UserAnswered() if step.call not in received:
                entries.append(_entry(turn.id, "tool", step.text, step.label, at, call=step.call))
            case Steered():
                said_now = (*split_message(step.text, step.label), *((part.text, part.label) for part in step.quoted))
                entries.extend(_entry(turn.id, "user", text, label, at) for text, label in said_now)
                entries.extend(_attachment_entries(turn.id, step, at))
            case Transcribed():
                told = (
                    f"] {step.text}"
                    if step.text
                    else f", not written down: {_TRANSCRIPTION_PROBLEMS.get(step.problem, step.problem)}]"
                )
                entries.append(_entry(turn.id, "user", f"[spoken{told}", step.label, at))
            case Noted():
                entries.append(_entry(turn.id, "user", step.text, HOB_LABEL, at))
            case _:
                pass
    return tuple(entry for entry in entries if entry.text or entry.calls or entry.call)


def entries_of(turn: Turn, steps: Sequence[Step], at: float) -> tuple[TranscriptEntry, ...]:
    """Return all entries of the turn for the transcript. `at` is Unix seconds; the store assigns the numbers."""
    return opening_entries(turn, at) + step_entries(turn, steps, at)


def split_message(text: str, label: Label) -> tuple[tuple[str, Label], ...]:
    """Split a message into labelled parts: text the owner pasted is untrusted, and so is a long message as a whole."""
    if label != OWNER_LABEL or not has_pasted_text(text):
        return ((text, label),)
    own = Label(Origin.OWNER, Trust.UNTRUSTED) if is_long(text) else label
    return tuple((part, PASTED_LABEL if pasted else own) for part, pasted in split_pasted(text))


def closing_entry(turn: Turn, state: TurnState, reason: str, at: float) -> TranscriptEntry | None:
    """Return the entry that closes a turn without an answer, or None.

    Without it, the next message would directly follow this turn's, and the model would act on both.
    """
    match state:
        case TurnState.CANCELLED:
            text = STOPPED
        case TurnState.FAILED:
            text = NOT_ANSWERED.format(reason=FAULT_WORDS.get(reason, reason) or "it failed")
        case _:
            return None
    return _entry(turn.id, "user", text, HOB_LABEL, at)


def _inbound_entries(turn: str, inbound: Inbound, at: float) -> Iterator[TranscriptEntry]:
    # earlier messages, as the client reports them
    before = [part for part in inbound.quoted if part.label.origin is Origin.CLIENT]
    for part in before:
        yield _entry(turn, "user", part.text, part.label, at)
    for text, label in split_message(inbound.text, inbound.label):
        yield _entry(turn, "user", text, label, at)
    for part in inbound.quoted:
        if part.text and part not in before:
            yield _entry(turn, "user", part.text, part.label, at)
    yield from _attachment_entries(turn, inbound, at)


def _attachment_entries(turn: str, message: Inbound | Steered, at: float) -> Iterator[TranscriptEntry]:
    for attachment in message.attachments:
        yield _attachment_entry(turn, attachment, message.label if attachment.voice else FILE_LABEL, at)


def _attachment_entry(turn: str, attachment: Attachment, label: Label, at: float) -> TranscriptEntry:
    name = " ".join(attachment.name.split())[:80] or "no name"
    size = f", {attachment.size} bytes" if attachment.size else ""
    text = f"[attachment: {name}, {attachment.media_type}{size}]"
    shown = attachment.blob is not None and attachment.media_type.startswith("image/")
    images = (Image(attachment.blob, attachment.media_type),) if shown and attachment.blob else ()
    return TranscriptEntry(0, "user", text, label, turn, at, images=images)


def _entry(
    turn: str,
    role: Role,
    text: str,
    label: Label,
    at: float,
    calls: tuple[ToolCall, ...] = (),
    call: CallId | None = None,
    continuation: Continuation | None = None,
) -> TranscriptEntry:
    return TranscriptEntry(0, role, text, label, turn, at, calls=calls, call=call, continuation=continuation)
