"""Requests to Gemini generateContent."""

import json
from typing import Any

import pytest

from hob.core.ids import BlobId, CallId
from hob.core.models import (
    DEFAULT_THINKING_TOKENS,
    AssistantMessage,
    Continuation,
    Image,
    ModelMessage,
    ModelRequest,
    Thinking,
    ToolMessage,
    UserMessage,
)
from hob.core.tools import ToolCall, ToolSpec
from hob.providers.http.wire import ListedModel
from hob.providers.wires.gemini.encoding import encode_request
from hob.providers.wires.gemini.wire import GenerateContent

CLOCK = ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}})
READ = ToolSpec(
    "read", "Reads.", {"type": "object", "properties": {"path": {"type": "string"}}, "additionalProperties": False}
)
STAND_IN = "skip_thought_signature_validator"


def call(id: str, name: str = "clock", arguments: str = "{}") -> ToolCall:
    return ToolCall(CallId(id), name, arguments)


def body_of(*said: ModelMessage, system: str = "", model: str = "gemini-2.5-pro", **more: Any) -> dict[str, Any]:
    images = more.pop("images", None)
    request = ModelRequest(model, system, said, **more)
    return dict(json.loads(encode_request(request, model=model, images=images)))


def contents_of(*said: ModelMessage, **more: Any) -> list[dict[str, Any]]:
    return list(body_of(*said, **more)["contents"])


def test_request_as_documented() -> None:
    said = (
        UserMessage("hi"),
        AssistantMessage("I look.", (call("a"), call("b", "read", '{"path": "x"}'))),
        ToolMessage(CallId("a"), "noon"),
        ToolMessage(CallId("b"), "no such file", is_error=True),
    )
    body = body_of(*said, system="Be brief.", tools=(CLOCK, READ), max_tokens=7)
    assert list(body) == ["generationConfig", "tools", "systemInstruction", "contents"]
    read = {"name": "read", "description": "Reads."}
    read_parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    assert body == {
        "generationConfig": {"maxOutputTokens": 7 + DEFAULT_THINKING_TOKENS},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "clock", "description": "Tells the time."},
                    {**read, "parameters": read_parameters},
                ]
            }
        ],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hi"}]},
            {
                "role": "model",
                "parts": [
                    {"text": "I look."},
                    {"functionCall": {"id": "a", "name": "clock", "args": {}}},
                    {"functionCall": {"id": "b", "name": "read", "args": {"path": "x"}}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"id": "a", "name": "clock", "response": {"output": "noon"}}},
                    {"functionResponse": {"id": "b", "name": "read", "response": {"error": "no such file"}}},
                ],
            },
        ],
    }


def test_results_stand_in_the_order_of_their_calls_before_anything_else() -> None:
    said = (
        UserMessage("one"),
        UserMessage("two"),
        AssistantMessage("", (call("a"), call("b", "read"))),
        ToolMessage(CallId("b"), "x"),
        UserMessage("and this"),
        ToolMessage(CallId("a"), "y"),
    )
    contents = contents_of(*said)
    assert [content["role"] for content in contents] == ["user", "model", "user"]
    assert [next(iter(part.values())) for part in contents[2]["parts"]] == [
        {"id": "a", "name": "clock", "response": {"output": "y"}},
        {"id": "b", "name": "read", "response": {"output": "x"}},
        "and this",
    ]


def test_name_is_that_of_the_newest_call_with_the_id() -> None:
    said: list[ModelMessage] = [UserMessage("x")]
    for name in ("clock", "read"):
        said += [AssistantMessage("", (call("0", name),)), ToolMessage(CallId("0"), "r")]
    contents = contents_of(*said)
    assert [content["parts"][0]["functionResponse"]["name"] for content in contents[2::2]] == ["clock", "read"]


def test_users_side_begins_and_nothing_is_empty() -> None:
    contents = contents_of(AssistantMessage("so"), UserMessage(""), AssistantMessage(""), ToolMessage(CallId("?"), "x"))
    assert [content["role"] for content in contents] == ["user", "model", "user", "model", "user"]
    assert contents[2:] == [
        {"role": "user", "parts": [{"text": "[empty]"}]},
        {"role": "model", "parts": [{"text": "[empty]"}]},
        {"role": "user", "parts": [{"text": "x"}]},
    ]
    assert "systemInstruction" not in body_of(UserMessage("hi"), system="\n")


def test_images_are_what_their_bytes_say() -> None:
    said = UserMessage("look", (Image(BlobId("j"), "image/png"), Image(BlobId("g"), "image/gif")))
    blobs = {BlobId("j"): b"\xff\xd8\xff\xe0", BlobId("g"): b"GIF89a"}
    assert contents_of(said, images=blobs)[0]["parts"] == [
        {"inlineData": {"mimeType": "image/jpeg", "data": "/9j/4A=="}},
        {"text": "[an image that cannot be shown here: image/gif]"},
        {"text": "look"},
    ]


@pytest.mark.parametrize(
    ("model", "level", "config"),
    [
        ("gemini-2.5-pro", None, None),
        ("gemini-2.5-pro", Thinking.OFF, {"thinkingBudget": 128, "includeThoughts": False}),
        ("gemini-2.5-flash", Thinking.OFF, {"thinkingBudget": 0, "includeThoughts": False}),
        ("gemini-2.5-flash-lite", Thinking.MINIMAL, {"thinkingBudget": 1024, "includeThoughts": True}),
        ("gemini-2.5-flash", Thinking.XHIGH, {"thinkingBudget": 24576, "includeThoughts": True}),
        ("models/gemini-3-pro-preview", Thinking.MEDIUM, {"thinkingLevel": "high", "includeThoughts": True}),
        ("gemini-3-pro-preview", Thinking.OFF, {"thinkingLevel": "low", "includeThoughts": False}),
        ("gemini-3.1-pro-preview", Thinking.MEDIUM, {"thinkingLevel": "medium", "includeThoughts": True}),
        ("gemini-3-flash-preview", Thinking.MINIMAL, {"thinkingLevel": "minimal", "includeThoughts": True}),
        ("gemini-3.5-flash-lite", Thinking.OFF, {"thinkingLevel": "minimal", "includeThoughts": False}),
        ("gemini-3.7-flash", Thinking.MINIMAL, {"thinkingLevel": "low", "includeThoughts": True}),
        ("gemini-flash-latest", Thinking.XHIGH, {"thinkingLevel": "high", "includeThoughts": True}),
        ("gemini-4-ultra", Thinking.MINIMAL, {"thinkingLevel": "low", "includeThoughts": True}),
        ("gemini-2.0-flash", Thinking.HIGH, None),
        ("gemini-3.1-flash-image", Thinking.HIGH, None),
        ("gemma-3-27b-it", Thinking.HIGH, None),
    ],
)
def test_each_model_is_told_to_think_in_its_own_way(
    model: str, level: Thinking | None, config: dict[str, Any] | None
) -> None:
    assert body_of(UserMessage("x"), model=model, thinking=level)["generationConfig"].get("thinkingConfig") == config


@pytest.mark.parametrize("max_tokens", [1, 4096, 60_000, 100_000])
@pytest.mark.parametrize("level", list(Thinking))
def test_thinking_has_its_room_beside_the_answer(level: Thinking, max_tokens: int) -> None:
    config = body_of(UserMessage("x"), thinking=level, max_tokens=max_tokens)["generationConfig"]
    maximum = ModelRequest("m", "", (), max_tokens=max_tokens, thinking=level).max_output
    assert config["maxOutputTokens"] == max(max_tokens, min(maximum, 65_536))


# -- signatures


def kept(*parts: Any) -> Continuation:
    return Continuation("gemini", json.dumps(parts))


def parts_of(said: AssistantMessage, model: str = "gemini-3-pro-preview") -> list[Any]:
    results = [ToolMessage(call.id, "x") for call in said.calls]
    return list(contents_of(UserMessage("x"), said, *results, model=model)[1]["parts"])


def test_signatures_go_back_on_the_parts_they_came_on() -> None:
    said = AssistantMessage(
        "Hm. Well.", (call("a"), call("b")), kept([4, None], [None, "s1"], [None, None], [5, "s2"], [0, "s3"])
    )
    calls: list[dict[str, Any]] = [{"functionCall": {"id": id, "name": "clock", "args": {}}} for id in ("a", "b")]
    assert parts_of(said) == [
        {"text": "Hm. "},
        {**calls[0], "thoughtSignature": "s1"},
        calls[1],
        {"text": "Well.", "thoughtSignature": "s2"},
        {"text": "", "thoughtSignature": "s3"},
    ]


def test_text_that_was_changed_loses_its_signature_and_a_call_does_not() -> None:
    said = AssistantMessage("Cut.", (call("a"),), kept([9, "s0"], [None, "s1"]))
    text, made = parts_of(said)
    assert text == {"text": "Cut."}
    assert made["thoughtSignature"] == "s1"


@pytest.mark.parametrize("data", ["", "{", "5", "[5]", '[["x", 1]]', '[[null, "s"], [null, "s"]]', "[" * 100_000])
def test_strange_continuation_costs_nothing(data: str) -> None:
    said = AssistantMessage("Hm.", (call("a"),), Continuation("gemini", data))
    assert [part.get("thoughtSignature") for part in parts_of(said)] == [None, STAND_IN]


def test_first_call_of_another_model_bears_a_stand_in_while_the_turn_goes_on() -> None:
    step = (AssistantMessage("", (call("a"), call("b"))), ToolMessage(CallId("a"), "x"), ToolMessage(CallId("b"), "y"))
    contents = contents_of(UserMessage("old"), *step, UserMessage("new"), *step, model="gemini-flash-latest")
    signed = [[part.get("thoughtSignature") for part in content["parts"]] for content in contents]
    # results and a question in one content: the turn before is over
    assert signed == [[None], [None, None], [None, None, None], [STAND_IN, None], [None, None]]
    older = contents_of(UserMessage("new"), *step, model="gemini-2.5-pro")
    assert "thoughtSignature" not in older[1]["parts"][0]


# -- the wire


@pytest.mark.parametrize(
    ("base", "model", "url"),
    [
        ("https://x.com", "gemini-3", "https://x.com/v1beta/models/gemini-3"),
        ("x.com/v1beta/", "models/gemini-3", "https://x.com/v1beta/models/gemini-3"),
        ("https://x.com/proxy", "tunedModels/mine", "https://x.com/proxy/v1beta/tunedModels/mine"),
        ("https://x.com/v1", "a?b#c d", "https://x.com/v1/models/a%3Fb%23c%20d"),
    ],
)
def test_addresses(base: str, model: str, url: str) -> None:
    assert GenerateContent().chat_url(base, model) == f"{url}:streamGenerateContent?alt=sse"


def test_models_are_listed_if_they_answer() -> None:
    rows = [
        {"name": "models/gemini-x", "inputTokenLimit": 9, "outputTokenLimit": 5, "thinking": True},
        {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]},
        {"name": "models/old", "supportedGenerationMethods": ["generateContent"]},
        {"name": 5},
        "x",
    ]
    assert GenerateContent().read_models({"models": rows}) == (
        ListedModel("gemini-x", 9, 5, thinking=True),
        ListedModel("old"),
    )
    assert GenerateContent().read_models({"data": []}) is None
