"""Past messages of another assistant, as the API takes them and the store keeps them."""

from typing import Literal, TypedDict

from hob.core.ids import CallId, SessionKey
from hob.core.models import Entry
from hob.core.tools import ToolCall
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass
from hob.gateway.http.fields import field
from hob.store.imports import PastEntry
from hob.store.store import Store

MAX_BYTES = 32_000_000


class ImportedMessagesAnswer(TypedDict):
    """What became of past messages.

    new: messages that are kept from now on
    there: messages that were there already
    """

    new: int
    there: int


@dataclass(frozen=True, slots=True)
class PastCall:
    """A tool call that was made elsewhere; it is never made again."""

    id: str = field("its id")
    name: str = field("the tool")
    arguments: str = field("its arguments as JSON", "{}")


@dataclass(frozen=True, slots=True)
class PastMessage:
    """One message. Anyone who wrote it, it is untrusted: it comes out of a file."""

    key: str = field("what it is called at its source", characters=(1, 200))
    role: Literal["user", "assistant", "tool"] = field("who said it")
    text: str = field("what was said", "")
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
    title: str = field("what it is called if it is new", "")
    preview: bool = field("only count what is new", False)


async def take_over(store: Store, importing: ImportRequest) -> ImportedMessagesAnswer:
    """Keep them as history; how many are new and how many were there. Raises InvalidRequest, StoreErrors."""
    past = [PastEntry(each.key, _entry(each)) for each in importing.messages]
    new = await store.imports.add(SessionKey(importing.session), importing.title, past, preview=importing.preview)
    return {"new": new, "there": len(past) - new}


def _entry(said: PastMessage) -> Entry:
    return Entry(
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
