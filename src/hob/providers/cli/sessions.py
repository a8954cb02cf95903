"""What a CLI has heard already: which of its conversations goes on a conversation of ours.

In memory alone: after a restart a conversation is sent again.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence

from hob.core.ids import SessionKey
from hob.core.models import AssistantMessage, ModelMessage, ModelRequest, ToolMessage, Usage, UserMessage
from hob.core.values import dataclass

# A conversation as one text: a CLI takes a single prompt, no matter who said what before.

_LEAD = "Below is the conversation so far, oldest first. Answer its last message; what you said before is yours."
_UNSEEN = "[A picture stood here; it cannot be shown to you.]"


def render(messages: Sequence[ModelMessage], mark: str) -> str:
    """The conversation; a lone message stands for itself. `mark` is what no one who wrote in it can have known."""
    if len(messages) == 1:
        return words_of(messages[0])
    parts = [
        f"<{_side(said)}-{mark}>\n{words_of(said).replace(mark, '…')}\n</{_side(said)}-{mark}>" for said in messages
    ]
    return "\n".join([_LEAD, *parts])


def render_new(messages: Sequence[ModelMessage]) -> str:
    """What the CLI has not heard yet of a conversation that it keeps."""
    return "\n\n".join(words_of(said) for said in messages)


def words_of(said: ModelMessage) -> str:
    """What one message says."""
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
    """A conversation of the CLI. `heard` messages of ours are in it, its own answer last; `digest` tells which.

    `total` is what it has used so far.
    """

    id: str
    message_count: int
    digest: bytes
    total: Usage


class CliSessions:
    """The conversations that CLIs keep for us, by ours. One that is in use is not here: it serves one request."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[SessionKey, CliSession] = OrderedDict()

    def take(self, request: ModelRequest) -> CliSession | None:
        """The conversation that this request goes on, if there is one; whatever else was kept is forgotten.

        It goes on where all the CLI has heard, its own last answer included, still stands at the beginning of the
        request, and nothing but the other side has spoken since. So after a compaction, after something was taken back
        and after another model has answered it does not.
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
        """The CLI has heard all of this request and has given this answer."""
        if request.cache_key is None:
            return
        heard = (*request.messages, AssistantMessage(answer))
        self._sessions[request.cache_key] = CliSession(id, len(heard), _digest(request, heard), total)
        if len(self._sessions) > _MAX:
            self._sessions.popitem(last=False)


def _digest(request: ModelRequest, messages: Sequence[ModelMessage]) -> bytes:
    """A digest of what was said. White space does not count: answers come back trimmed, calls in text rewritten."""
    digest = hashlib.sha256(f"{request.model}\0{request.system}".encode("utf-8", "replace"))
    for said in messages:
        kind = type(said).__name__
        images = ",".join(image.blob for image in said.images) if isinstance(said, UserMessage) else ""
        text = "".join(_lasting(said.text).split())
        digest.update(f"\0{kind}\0{images}\0{text}".encode("utf-8", "replace"))
    return digest.digest()


def _lasting(text: str) -> str:
    """The text without Hob's note about the moment, which ends the newest message and is gone from later requests."""
    return text[: text.rfind(_NOTE)] if text.endswith(_END_OF_NOTE) and _NOTE in text else text
