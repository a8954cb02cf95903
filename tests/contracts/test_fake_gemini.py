"""The fake server speaks Gemini's protocol as https://ai.google.dev/api/generate-content has it."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from hob.testing.model_server import Fault, ModelServer, Reply

from .plain import PLAIN

HI = {"role": "user", "parts": [{"text": "Grüß dich, 世界"}]}
ASK = {"role": "user", "parts": [{"text": 'CALL add {"a": 1}\nCALL add {"a": 2}'}]}
PATH = "/v1beta/models/gemini-3-pro"


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(key="g-right", models=("gemini-3-pro",)) as server:
        yield server


@pytest.fixture
async def http(server: ModelServer) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(verify=PLAIN, base_url=server.root, headers={"x-goog-api-key": "g-right"}) as http:
        yield http


async def generate(http: httpx2.AsyncClient, *contents: Any, **more: Any) -> httpx2.Response:
    return await http.post(f"{PATH}:generateContent", json={"contents": contents, **more})


def parts_of(answer: Any) -> list[dict[str, Any]]:
    (candidate,) = answer["candidates"]
    parts: list[dict[str, Any]] = candidate["content"]["parts"]
    return parts


def results_of(parts: list[dict[str, Any]]) -> dict[str, Any]:
    calls = [part["functionCall"] for part in parts if "functionCall" in part]
    given = [
        {"functionResponse": {"id": call["id"], "name": call["name"], "response": {"output": f"is {n}"}}}
        for n, call in enumerate(calls)
    ]
    return {"role": "user", "parts": given}


async def test_whole_answer_has_the_documented_fields(http: httpx2.AsyncClient) -> None:
    answer = (await generate(http, HI)).json()
    assert answer.keys() == {"candidates", "usageMetadata", "modelVersion", "responseId"}
    assert answer["candidates"] == [
        {
            "content": {"parts": [{"text": "You said: Grüß dich, 世界"}], "role": "model"},
            "index": 0,
            "finishReason": "STOP",
        }
    ]
    usage = answer["usageMetadata"]
    assert usage["totalTokenCount"] == usage["promptTokenCount"] + usage["candidatesTokenCount"]
    assert usage["promptTokensDetails"] == [{"modality": "TEXT", "tokenCount": usage["promptTokenCount"]}]
    assert answer["modelVersion"] == "gemini-3-pro"


async def test_stream_is_events_or_one_array(http: httpx2.AsyncClient) -> None:
    body = {"contents": [HI]}
    events = await http.post(f"{PATH}:streamGenerateContent?alt=sse", json=body)
    assert events.headers["content-type"] == "text/event-stream"
    lines = [line.removeprefix("data: ") for line in events.text.split("\r\n\r\n") if line]
    array = await http.post(f"{PATH}:streamGenerateContent", json=body)
    assert array.headers["content-type"] == "application/json; charset=UTF-8"
    for chunks in ([json.loads(line) for line in lines], array.json()):
        text = "".join(part["text"] for chunk in chunks for part in parts_of(chunk))
        assert text == "You said: Grüß dich, 世界"
        finishes = [chunk["candidates"][0].get("finishReason") for chunk in chunks]
        assert finishes == [None] * (len(chunks) - 1) + ["STOP"]
        assert all("usageMetadata" in chunk for chunk in chunks)


async def test_thoughts_are_shown_to_those_who_ask(server: ModelServer, http: httpx2.AsyncClient) -> None:
    thinking = {"generationConfig": {"thinkingConfig": {"includeThoughts": True}}}
    server.script.extend([Reply("So be it.", reasoning="Hm, hm.")] * 2)
    shown = (await generate(http, HI, **thinking)).json()
    assert parts_of(shown) == [{"text": "Hm, hm.", "thought": True}, {"text": "So be it."}]
    assert shown["usageMetadata"]["thoughtsTokenCount"] == 2
    assert parts_of((await generate(http, HI)).json()) == [{"text": "So be it."}]


async def test_tool_loop_gives_the_signature_back(http: httpx2.AsyncClient) -> None:
    parts = parts_of((await generate(http, ASK)).json())
    assert [part["functionCall"]["args"] for part in parts] == [{"a": 1}, {"a": 2}]
    assert ["thoughtSignature" in part for part in parts] == [True, False]
    told = await generate(http, ASK, {"role": "model", "parts": parts}, results_of(parts))
    assert parts_of(told.json()) == [{"text": "The tool said: is 0 | is 1"}]


async def test_signature_that_is_lost_or_wrong_is_refused(http: httpx2.AsyncClient) -> None:
    parts = parts_of((await generate(http, ASK)).json())
    bare = [{"functionCall": part["functionCall"]} for part in parts]
    lost = await generate(http, ASK, {"role": "model", "parts": bare}, results_of(parts))
    assert (lost.status_code, lost.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
    assert "missing a thought_signature" in lost.json()["error"]["message"]
    wrong = [{**parts[0], "thoughtSignature": "AAAA"}, parts[1]]
    changed = await generate(http, ASK, {"role": "model", "parts": wrong}, results_of(parts))
    assert changed.json()["error"]["message"] == "Corrupted thought signature."


async def test_current_turn_alone_needs_signatures(http: httpx2.AsyncClient) -> None:
    parts = parts_of((await generate(http, ASK)).json())
    bare = {"role": "model", "parts": [{"functionCall": part["functionCall"]} for part in parts]}
    later = await generate(http, ASK, bare, results_of(parts), {"role": "model", "parts": [{"text": "ok"}]}, HI)
    assert later.status_code == 200
    standin = {"thoughtSignature": "skip_thought_signature_validator"}
    stood_in = {"role": "model", "parts": [{**part, **standin} for part in bare["parts"]]}  # type: ignore[dict-item]
    assert (await generate(http, ASK, stood_in, results_of(parts))).status_code == 200


async def test_older_models_need_no_signature(http: httpx2.AsyncClient) -> None:
    call = {"role": "model", "parts": [{"functionCall": {"name": "add", "args": {}}}]}
    result = {"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"result": "3"}}}]}
    body = {"contents": [HI, call, result]}
    answer = await http.post("/v1beta/models/gemini-2.5-pro:generateContent", json=body)
    assert parts_of(answer.json()) == [{"text": "The tool said: 3"}]


def schema(**part: Any) -> Any:
    properties = {"a": part or {"type": "string"}}
    return {"name": "add", "parameters": {"type": "object", "properties": properties, "required": ["a"]}}


@pytest.mark.parametrize(
    ("declaration", "complaint"),
    [
        (
            schema(type="object", properties={"b": {"type": "string"}}, additionalProperties=False),
            "additionalProperties",
        ),
        (schema(**{"$ref": "#/$defs/x"}), "$ref"),
        (schema(const="x"), "const"),
        (schema(oneOf=[{"type": "string"}]), "oneOf"),
        (schema(type="integer", exclusiveMinimum=0), "exclusiveMinimum"),
        (schema(type=["string", "null"]), "not repeating"),
        (schema(type="integer", enum=[1, 2]), "only allowed for STRING"),
        (schema(type="string", format="uri"), "'enum' and 'date-time'"),
        (schema(type="array"), "items: missing field"),
        (schema(type="object"), "should be non-empty for OBJECT"),
        ({**schema(), "name": "1add"}, "Invalid function name"),
        ({**schema(), "strict": True}, 'Unknown name "strict"'),
        ({"name": "a", "parameters": {"type": "object", "properties": {"a": {}}, "required": ["b"]}}, "not defined"),
    ],
)
async def test_unknown_keyword_of_a_schema_is_refused(
    http: httpx2.AsyncClient, declaration: Any, complaint: str
) -> None:
    answer = await generate(http, HI, tools=[{"functionDeclarations": [declaration]}])
    assert answer.status_code == 400
    assert complaint in answer.json()["error"]["message"]


async def test_field_it_does_not_know_is_named(http: httpx2.AsyncClient) -> None:
    declaration = schema(type="object", properties={}, additionalProperties=False)
    error = (await generate(http, HI, tools=[{"functionDeclarations": [declaration]}])).json()["error"]
    where = "tools[0].function_declarations[0].parameters.properties[a].value"
    assert error["message"] == (
        f"Invalid JSON payload received. Unknown name \"additionalProperties\" at '{where}': Cannot find field."
    )
    (details,) = error["details"]
    assert details["@type"] == "type.googleapis.com/google.rpc.BadRequest"
    assert details["fieldViolations"][0]["field"] == where


async def test_known_keywords_of_a_schema_are_taken(http: httpx2.AsyncClient) -> None:
    known = schema(type="ARRAY", items={"type": "STRING", "enum": ["x"], "nullable": True}, minItems="1")
    raw = {"name": "b", "parametersJsonSchema": {"type": "object", "additionalProperties": False}}
    bare = {"name": "c", "description": "No parameters at all."}
    answer = await generate(http, HI, tools=[{"functionDeclarations": [known, raw, bare]}])
    assert answer.status_code == 200


CALL: Any = {"role": "model", "parts": [{"functionCall": {"name": "add", "args": {}}, "thoughtSignature": "x"}]}
RESULT: Any = {"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"output": "x"}}}]}


@pytest.mark.parametrize(
    ("contents", "complaint"),
    [
        ([], "contents is not specified"),
        ([{"role": "assistant", "parts": [{"text": "x"}]}], "valid role: user, model"),
        ([{"role": "user", "parts": []}], "must not be empty"),
        ([{"role": "user", "parts": [{"thought": True}]}], "oneof field 'data'"),
        ([{"role": "user", "parts": [{"text": "x", "type": "text"}]}], 'Unknown name "type"'),
        ([CALL, RESULT], "function call turn comes immediately after a user turn"),
        ([HI, RESULT], "function response turn comes immediately after a function call turn"),
        ([HI, CALL, HI], "number of function response parts is equal"),
        ([HI, CALL, {"role": "user", "parts": RESULT["parts"] * 2}], "number of function response parts is equal"),
    ],
)
async def test_contents_out_of_order_are_refused(http: httpx2.AsyncClient, contents: Any, complaint: str) -> None:
    answer = await generate(http, *contents)
    assert answer.status_code == 400
    assert complaint in answer.json()["error"]["message"]


async def test_rate_limit_says_how_long_in_its_details(server: ModelServer, http: httpx2.AsyncClient) -> None:
    server.script.append(Reply(fault=Fault.RATE_SHORT, retry_after=35))
    answer = await generate(http, HI)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["status"]) == (429, 429, "RESOURCE_EXHAUSTED")
    delays = [part["retryDelay"] for part in error["details"] if part["@type"].endswith(".RetryInfo")]
    assert delays == ["35s"]
    assert "retry-after" not in answer.headers


async def test_keys_are_taken_from_header_or_query(server: ModelServer) -> None:
    async with httpx2.AsyncClient(verify=PLAIN, base_url=server.root) as http:
        assert (await http.get("/v1beta/models?key=g-right")).status_code == 200
        wrong = await http.get("/v1beta/models?key=g-wrong")
        none = await http.get("/v1beta/models")
    assert (wrong.status_code, wrong.json()["error"]["details"][0]["reason"]) == (400, "API_KEY_INVALID")
    assert (none.status_code, none.json()["error"]["status"]) == (403, "PERMISSION_DENIED")


async def test_refused_stream_that_is_an_array_refuses_in_an_array(http: httpx2.AsyncClient) -> None:
    array = (await http.post(f"{PATH}:streamGenerateContent", json={"contents": []})).json()
    events = (await http.post(f"{PATH}:streamGenerateContent?alt=sse", json={"contents": []})).json()
    assert array == [events]


async def test_arguments_that_are_no_json_are_given_up(server: ModelServer, http: httpx2.AsyncClient) -> None:
    server.script.append(Reply(calls=(("add", '{"a": '),)))
    answer = (await generate(http, HI)).json()
    assert answer["candidates"][0]["finishReason"] == "MALFORMED_FUNCTION_CALL"


async def test_withheld_answer_says_so(server: ModelServer, http: httpx2.AsyncClient) -> None:
    server.script.extend([Reply("I", fault=Fault.FILTERED), Reply(fault=Fault.FILTERED)])
    answer, prompt = (await generate(http, HI)).json(), (await generate(http, HI)).json()
    assert answer["candidates"][0]["finishReason"] == "SAFETY"
    assert prompt["promptFeedback"] == {"blockReason": "SAFETY"}
    assert "candidates" not in prompt


async def test_models_are_listed_with_their_limits(http: httpx2.AsyncClient) -> None:
    (model,) = (await http.get("/v1beta/models")).json()["models"]
    assert (model["name"], model["inputTokenLimit"]) == ("models/gemini-3-pro", 32_768)
    assert "generateContent" in model["supportedGenerationMethods"]
    assert (await http.get("/v1beta/models/gemini-3-pro")).json() == model
    counted = await http.post(f"{PATH}:countTokens", json={"contents": [HI]})
    assert counted.json()["totalTokens"] > 0


async def test_beginning_that_was_sent_before_is_cached(http: httpx2.AsyncClient) -> None:
    system = {"systemInstruction": {"parts": [{"text": "Be good. " * 1000}]}}
    first = (await generate(http, HI, **system)).json()["usageMetadata"]
    second = (await generate(http, ASK, **system)).json()["usageMetadata"]
    assert "cachedContentTokenCount" not in first
    assert 2000 < second["cachedContentTokenCount"] < second["promptTokenCount"]
