"""Whatever the fake model server is sent, it answers: with the reply, or with the vendor's own error."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hob.testing.model_server import HttpRequest, ModelServer

CHATS: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "model": "m",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "x"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "1", "type": "function", "function": {"name": "a", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "1", "content": "x"},
        ],
        "tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "object", "properties": {}}}}],
        "stream_options": {"include_usage": True},
    },
    "/v1/responses": {
        "model": "m",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
            {"type": "function_call", "call_id": "1", "name": "a", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "x"},
        ],
        "reasoning": {"effort": "low", "summary": "auto"},
    },
    "/v1/messages": {
        "model": "m",
        "max_tokens": 5000,
        "thinking": {"type": "adaptive"},
        "system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "a", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "x"}]},
        ],
        "tools": [{"name": "a", "input_schema": {"type": "object", "properties": {}}}],
    },
    "/v1beta/models/gemini-2:streamGenerateContent": {
        "contents": [
            {"role": "user", "parts": [{"text": "x"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "a", "response": {"output": "x"}}}]},
        ],
        "generationConfig": {"thinkingConfig": {"includeThoughts": True}},
        "tools": [{"functionDeclarations": [{"name": "a", "description": "x"}]}],
    },
    "/api/chat": {
        "model": "m",
        "messages": [
            {"role": "user", "content": "x", "images": ["AAAA"]},
            {"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": {}}}]},
            {"role": "tool", "content": "x"},
        ],
        "think": True,
    },
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@st.composite
def spoilt(draw: st.DrawFn) -> tuple[str, Any]:
    """A path and a good request for it, of which any one part was replaced or left out."""
    path = draw(st.sampled_from(sorted(CHATS)))
    request = json.loads(json.dumps(CHATS[path]))
    place: Any = request
    while True:
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if isinstance(place[key], dict | list) and place[key] and draw(st.integers(0, 3)):
            place = place[key]
        elif draw(st.booleans()):
            del place[key]
            return path, request
        else:
            place[key] = draw(JSON)
            return path, request


def status_of(path: str, body: bytes) -> int:
    headers = {"anthropic-version": "2023-06-01"}
    first = next(iter(ModelServer().respond(HttpRequest(0.0, "POST", path, headers, body))))
    assert isinstance(first, bytes)
    return int(first[9:12])


def test_good_requests_are_answered() -> None:
    assert {status_of(path, json.dumps(request).encode()) for path, request in CHATS.items()} == {200}


@given(spoilt())
def test_spoilt_request_is_answered_or_refused(asked: tuple[str, Any]) -> None:
    path, request = asked
    assert status_of(path, json.dumps(request).encode()) in {200, 400, 404}


@given(st.sampled_from(sorted(CHATS)), st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()))
def test_malformed_request_is_refused(path: str, body: bytes) -> None:
    assert status_of(path, body) == 400
