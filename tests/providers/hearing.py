"""OutputCallbacks what a server says, without one."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from hob.core.errors import ModelError
from hob.core.models import KeepAlive, ModelEvent, ModelReply
from hob.providers.http.decoder import Decoder


def sse(*events: Mapping[str, Any]) -> bytes:
    """Server-sent events; each names its type, as Anthropic's do."""
    return b"".join(
        f"event: {event.get('type', 'message')}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
        for event in events
    )


def hear(decoder: Decoder, *data: bytes) -> list[ModelEvent]:
    """All that these bytes mean, without beats."""
    events = [event for piece in data for event in decoder.feed(piece)] + decoder.finish()
    return [event for event in events if not isinstance(event, KeepAlive)]


def last(events: Iterable[ModelEvent]) -> ModelReply:
    """The reply at the end."""
    *_, reply = events
    assert isinstance(reply, ModelReply)
    return reply


def failure(decoder: Decoder, *data: bytes) -> ModelError:
    """What it ends in."""
    with pytest.raises(ModelError) as caught:
        hear(decoder, *data)
    return caught.value
