"""Matching of CLI conversations to Hob's.

Kept in memory only: after a restart a conversation is sent again.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from hob.core.ids import SessionKey
from hob.core.models import AssistantMessage, ModelMessage, ModelRequest, ToolMessage, Usage, UserMessage
from hob.core.values import dataclass

# A conversation as one text: a CLI takes a single prompt without roles.

_LEAD = "Below is the conversation so far, oldest first. Answer its last message; what you said before is yours."
_UNSEEN = "[A picture stood here; it cannot be shown to you.]"


def render(messages: Sequence[ModelMessage], mark: str) -> str:
    """Render the conversation; a single message is unchanged. `mark` must be unknown to the authors of the messages."""
    if len(messages) == 1:
        return render_message(messages[0])
    parts = [
        f"<{_side(said)}-{mark}>\n{render_message(said).replace(mark, '…')}\n</{_side(said)}-{mark}>"
        for said in messages
    ]
    return "\n".join([_LEAD, *parts])


def render_new(messages: Sequence[ModelMessage]) -> str:
    """Render the messages that are new to a CLI conversation."""
    return "\n\n".join(render_message(said) for said in messages)


def render_message(said: ModelMessage) -> str:
    """Render one message."""
    if isinstance(said, UserMessage) and said.images:
        return "\n".join([said.text, *(_UNSEEN for _ in said.images)])
    if isinstance(said, ToolMessage):
        return f"[{'A tool failed' if said.is_error else 'A tool gave'}]\n{said.text}"
    return said.text


def _side(said: ModelMessage) -> str:
    return "assistant" if isinstance(said, AssistantMessage) else "user"


_MAX = 512
_NOTE, _END_OF_NOTE = "\n\n<context>\n", "\n</context>"


@dataclass(frozen=True, slots=True)
class CliSession:
    """A conversation kept by the CLI. It contains `heard` of our messages, ending with its own answer; `digest`
    identifies them.

    `total` is the usage so far.
    """

    id: str
    message_count: int
    digest: bytes
    total: Usage


class CliSessions:
    """Idle CLI conversations by session. A conversation in use is taken out, since it serves a single request."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[SessionKey, CliSession] = OrderedDict()

    def take(self, request: ModelRequest) -> CliSession | None:
        """Return the conversation that this request continues, if any, and forget all others of the session.

        A request continues one if everything the CLI knows, including its last answer, is still at the beginning,
        followed only by messages of the other side. So compaction, undo or an answer by another model starts a new
        conversation.
        """
        if request.cache_key is None:
            return None
        session = self._sessions.pop(request.cache_key, None)
        if session is None or len(request.messages) <= session.message_count:
            return None
        heard, new = request.messages[: session.message_count], request.messages[session.message_count :]
        if any(isinstance(said, AssistantMessage) for said in new) or _digest(request, heard) != session.digest:
            return None
        return session

    def keep(self, request: ModelRequest, id: str, answer: str, total: Usage) -> None:
        """Keep the conversation: the CLI knows this whole request and its own answer."""
        if request.cache_key is None:
            return
        heard = (*request.messages, AssistantMessage(answer))
        self._sessions[request.cache_key] = CliSession(id, len(heard), _digest(request, heard), total)
        if len(self._sessions) > _MAX:
            self._sessions.popitem(last=False)


def _digest(request: ModelRequest, messages: Sequence[ModelMessage]) -> bytes:
    """Return a digest of the messages, ignoring white space, since answers are trimmed and calls rewritten."""
    digest = hashlib.sha256(f"{request.model}\0{request.system}".encode("utf-8", "replace"))
    for said in messages:
        kind = type(said).__name__
        images = ",".join(image.blob for image in said.images) if isinstance(said, UserMessage) else ""
        text = "".join(_strip_volatile(said.text).split())
        digest.update(f"\0{kind}\0{images}\0{text}".encode("utf-8", "replace"))
    return digest.digest()


def _strip_volatile(text: str) -> str:
    """Return the text without the volatile block at the end of the newest message, which later requests lack."""
    return text[: text.rfind(_NOTE)] if text.endswith(_END_OF_NOTE) and _NOTE in text else text
