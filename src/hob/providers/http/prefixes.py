"""Sealed reasoning (Anthropic): dropped where what stood before it has changed.

Anthropic's newer models refuse their own reasoning once anything before it has changed
(https://platform.claude.com/docs/en/build-with-claude/preserved-thinking). Within a turn that happens: the clock goes
on while it waits for an approval or a restart, and history is cut as it grows.
"""

from dataclasses import replace
from hashlib import blake2b

from hob.core.models import AssistantMessage, ModelMessage, ModelRequest, ToolMessage, UserMessage


def digest_of(request: ModelRequest) -> str:
    """Stands for all that the request tells: system, tools and messages, without what is left out of it."""
    told = _Told(request)
    for message in valid_messages(request):
        told.add(message)
    return told.digest


def valid_messages(request: ModelRequest) -> tuple[ModelMessage, ...]:
    """The messages, without what was sealed after a beginning that has changed since."""
    if not any(isinstance(message, AssistantMessage) and message.continuation for message in request.messages):
        return request.messages
    told = _Told(request)
    messages: list[ModelMessage] = []
    for message in request.messages:
        kept = message
        if isinstance(message, AssistantMessage) and message.continuation is not None:
            valid = message.continuation.prefix in ("", told.digest)
            kept = message if valid else replace(message, continuation=None)
        told.add(kept)
        messages.append(kept)
    return tuple(messages)


def sealed_by(request: ModelRequest, by: str) -> ModelRequest:
    """The request without what somebody else has sealed: another provider, or another key of the same one."""
    messages = tuple(
        replace(message, continuation=None)
        if isinstance(message, AssistantMessage)
        and message.continuation is not None
        and message.continuation.by not in ("", by)
        else message
        for message in request.messages
    )
    return request if messages == request.messages else replace(request, messages=messages)


class _Told:
    """A digest that grows with what is told."""

    def __init__(self, request: ModelRequest) -> None:
        self._hasher = blake2b(digest_size=16)
        self._write(request.system)
        for spec in request.tools:
            self._write(spec.name, spec.description, repr(dict(spec.schema)))

    @property
    def digest(self) -> str:
        return self._hasher.hexdigest()

    def add(self, message: ModelMessage) -> None:
        match message:
            case UserMessage(text, images):
                self._write("user", text, *(image.blob for image in images))
            case AssistantMessage(text, calls, sealed):
                self._write("assistant", text, sealed.data if sealed else "")
                for call in calls:
                    self._write(call.id, call.name, call.arguments)
            case ToolMessage(call_id, text, is_error):
                self._write("tool", call_id, text, str(is_error))

    def _write(self, *words: str) -> None:
        for word in words:
            data = word.encode("utf-8", "surrogatepass")
            self._hasher.update(b"%d:" % len(data))
            self._hasher.update(data)
