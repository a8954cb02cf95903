"""Past messages of another assistant: their form in the API, and storing them."""

from typing import Literal, TypedDict

from hob.core.ids import CallId, SessionKey
from hob.core.models import TranscriptEntry
from hob.core.tools import ToolCall
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass
from hob.gateway.http.fields import field
from hob.store.imports import PastEntry
from hob.store.store import Store

MAX_BYTES = 32_000_000


class ImportedMessagesAnswer(TypedDict):
    """The outcome of an import of messages.

    new: messages that were added
    there: messages that were already there
    """

    new: int
    there: int


@dataclass(frozen=True, slots=True)
class PastCall:
    """A tool call that was made elsewhere; it is never repeated."""

    id: str = field("its id")
    name: str = field("the tool")
    arguments: str = field("its arguments as JSON", "{}")


@dataclass(frozen=True, slots=True)
class PastMessage:
    """One message. Its text is untrusted, even the owner's: it comes from a file."""

    key: str = field("its id at the source", characters=(1, 200))
    role: Literal["user", "assistant", "tool"] = field("its role")
    text: str = field("its text", "")
    at: float = field("when", 0.0, at_least=0, unit="seconds")
    owner: bool = field("whether the owner is known to have written it", False)
    calls: tuple[PastCall, ...] = field("the calls of an assistant's message", ())
    call: str = field("the id of the call that a tool's message answers", "")
    is_error: bool = field("whether that call failed", False)


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """Some messages of one conversation, in their order."""

    session: str = field("the conversation they become part of, as source:name", characters=(3, 300))
    messages: tuple[PastMessage, ...] = field("the messages")
    title: str = field("its title if it is new", "")
    preview: bool = field("only count what is new", False)


async def take_over(store: Store, importing: ImportRequest) -> ImportedMessagesAnswer:
    """Add the messages as history. Return how many are new and how many existed. Raises InvalidRequest, StoreErrors."""
    past = [PastEntry(each.key, _entry(each)) for each in importing.messages]
    new = await store.imports.add(SessionKey(importing.session), importing.title, past, preview=importing.preview)
    return {"new": new, "there": len(past) - new}


def _entry(said: PastMessage) -> TranscriptEntry:
    return TranscriptEntry(
        0,
        said.role,
        said.text,
        Label(_origin(said), Trust.UNTRUSTED),
        "",
        said.at,
        calls=tuple(ToolCall(CallId(call.id), call.name, call.arguments) for call in said.calls),
        call=CallId(said.call) if said.role == "tool" else None,
        is_error=said.is_error,
    )


def _origin(said: PastMessage) -> Origin:
    match said.role:
        case "assistant":
            return Origin.MODEL
        case "tool":
            return Origin.TOOL
        case "user":
            return Origin.OWNER if said.owner else Origin.FILE
