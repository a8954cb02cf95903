"""What the requests of every wire have in common."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hob.core.content.json_text import parse_json
from hob.core.ids import CallId
from hob.core.models import AssistantMessage, ModelMessage, ModelRequest, ToolMessage, UserMessage
from hob.core.tools import ToolCall
from hob.providers.wires.anthropic import encoding as anthropic
from hob.providers.wires.gemini import encoding as gemini
from hob.providers.wires.ollama import wire as ollama
from hob.providers.wires.openai_chat import wire as openai_chat
from hob.providers.wires.openai_responses import encoding as openai_responses

Encode = Callable[..., bytes]

pytestmark = pytest.mark.parametrize(
    "encode",
    [module.encode_request for module in (anthropic, gemini, ollama, openai_chat, openai_responses)],
    ids=["anthropic", "gemini", "ollama", "openai_chat", "openai_responses"],
)


def values_in(value: Any) -> Iterator[Any]:
    """The value and all in it, JSON in texts too."""
    if isinstance(value, str) and value.startswith("{"):
        value = parse_json(value) or value
    yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from values_in(each)


def sent(encode: Encode, *said: ModelMessage) -> list[Any]:
    return list(values_in(json.loads(encode(ModelRequest("m", "", said), model="m"))))


def test_half_a_character_does_not_cost_the_turn(encode: Encode) -> None:
    assert "a?" in sent(encode, UserMessage("a\ud83d"))


@pytest.mark.parametrize("arguments", ['{"a": ', "[1]", "none", '{"a": NaN}', "[" * 100_000])
def test_malformed_arguments_of_the_past_are_sent_back_as_an_object(encode: Encode, arguments: str) -> None:
    calls = (ToolCall(CallId("a"), "clock", arguments),)
    told = sent(encode, UserMessage("x"), AssistantMessage("", calls), ToolMessage(CallId("a"), "x"))
    assert {"malformed": arguments} in told
