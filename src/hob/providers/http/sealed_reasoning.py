"""Sealed reasoning (Anthropic): dropped if anything before it has changed.

Anthropic's newer models refuse their own reasoning once anything before it has changed
(https://platform.claude.com/docs/en/build-with-claude/preserved-thinking). That happens within a turn: the time changes
while it waits for an approval or a restart, and history is cut as it grows.
"""

from dataclasses import replace
from hashlib import blake2b

from hob.core.models import AssistantMessage, ModelMessage, ModelRequest, ToolMessage, UserMessage


def prefix_digest(request: ModelRequest) -> str:
    """Return a digest of everything the request says: system text, tools and messages, without dropped reasoning."""
    told = _PrefixDigest(request)
    for message in drop_stale_reasoning(request):
        told.add(message)
    return told.digest


def drop_stale_reasoning(request: ModelRequest) -> tuple[ModelMessage, ...]:
    """Return the messages without reasoning whose prefix has changed."""
    if not any(isinstance(message, AssistantMessage) and message.continuation for message in request.messages):
        return request.messages
    told = _PrefixDigest(request)
    messages: list[ModelMessage] = []
    for message in request.messages:
        kept = message
        if isinstance(message, AssistantMessage) and message.continuation is not None:
            valid = message.continuation.prefix in ("", told.digest)
            kept = message if valid else replace(message, continuation=None)
        told.add(kept)
        messages.append(kept)
    return tuple(messages)


def drop_foreign_reasoning(request: ModelRequest, by: str) -> ModelRequest:
    """Return the request without reasoning sealed by another provider or another key."""
    messages = tuple(
        replace(message, continuation=None)
        if isinstance(message, AssistantMessage)
        and message.continuation is not None
        and message.continuation.by not in ("", by)
        else message
        for message in request.messages
    )
    return request if messages == request.messages else replace(request, messages=messages)


class _PrefixDigest:
    """Incremental digest of a request."""

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
