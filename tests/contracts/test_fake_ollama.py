"""The fake server speaks Ollama's protocol as https://docs.ollama.com/api has it."""

import json
import math
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from hob.testing.model_server import Fault, ModelServer, Reply

from .plain import PLAIN

HI = {"role": "user", "content": "Grüß dich, 世界"}
ASK = {"role": "user", "content": 'CALL add {"a": 1}\nCALL add {"a": 2}'}
TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(models=("llama3.2", "nomic-embed-text")) as server:
        yield server


@pytest.fixture
async def http(server: ModelServer) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(verify=PLAIN, base_url=server.root) as http:
        yield http


async def chat(http: httpx2.AsyncClient, *messages: Any, **more: Any) -> httpx2.Response:
    return await http.post("/api/chat", json={"model": "llama3.2", "messages": messages, **more})


def lines_of(answer: httpx2.Response) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_answer_is_lines_unless_told_otherwise(http: httpx2.AsyncClient) -> None:
    answer = await chat(http, HI)
    assert answer.headers["content-type"] == "application/x-ndjson"
    *chunks, last = lines_of(answer)
    assert "".join(chunk["message"]["content"] for chunk in chunks) == "You said: Grüß dich, 世界"
    assert all(chunk.keys() == {"model", "created_at", "message", "done"} for chunk in chunks)
    assert not any(chunk["done"] for chunk in chunks)
    assert (last["done"], last["done_reason"], last["message"]["content"]) == (True, "stop", "")


async def test_whole_answer_has_the_documented_fields(http: httpx2.AsyncClient) -> None:
    answer = (await chat(http, HI, stream=False)).json()
    assert answer["message"] == {"role": "assistant", "content": "You said: Grüß dich, 世界"}
    assert {"prompt_eval_count", "eval_count", "total_duration", "load_duration"} <= answer.keys()
    assert answer["prompt_eval_count"] > 0


async def test_tool_round(http: httpx2.AsyncClient) -> None:
    asked = (await chat(http, ASK, stream=False, tools=TOOLS)).json()["message"]
    assert [call["function"]["arguments"] for call in asked["tool_calls"]] == [{"a": 1}, {"a": 2}]
    results = [{"role": "tool", "tool_name": "add", "content": f"is {n}"} for n in range(2)]
    told = (await chat(http, ASK, asked, *results, stream=False, tools=TOOLS)).json()
    assert told["message"]["content"] == "The tool said: is 0 | is 1"


async def test_thinking_is_apart_and_can_be_left_out(server: ModelServer, http: httpx2.AsyncClient) -> None:
    server.script.extend([Reply("So be it.", reasoning="Hm, hm.")] * 2)
    chunks = lines_of(await chat(http, HI, think=True))
    assert "".join(chunk["message"].get("thinking", "") for chunk in chunks) == "Hm, hm."
    assert "thinking" not in (await chat(http, HI, think=False, stream=False)).json()["message"]


@pytest.mark.parametrize(
    ("request_body", "complaint"),
    [
        ({"messages": [HI]}, "model is required"),
        ({"model": "m", "messages": [{"role": "developer", "content": "x"}]}, "invalid role"),
        (
            {"model": "m", "messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]},
            "cannot unmarshal",
        ),
        ({"model": "m", "messages": [{**HI, "images": ["data:image/png;base64,AAAA"]}]}, "illegal base64"),
        ({"model": "m", "messages": [HI], "think": "deeply"}, "invalid think value"),
        (
            {
                "model": "m",
                "messages": [
                    HI,
                    {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": '{"a": 1}'}}]},
                ],
            },
            "ToolCallFunctionArguments",
        ),
    ],
)
async def test_request_with_mistakes_is_refused(http: httpx2.AsyncClient, request_body: Any, complaint: str) -> None:
    answer = await http.post("/api/chat", json=request_body)
    assert answer.status_code == 400
    assert answer.json().keys() == {"error"}
    assert complaint in answer.json()["error"]


async def test_unsupported_request_of_a_model_is_refused() -> None:
    async with (
        ModelServer(capabilities=("completion",)) as server,
        httpx2.AsyncClient(verify=PLAIN, base_url=server.root) as http,
    ):
        assert "does not support tools" in (await chat(http, HI, tools=TOOLS)).json()["error"]
        assert "does not support thinking" in (await chat(http, HI, think=True)).json()["error"]


async def test_error_midway_is_a_line_of_its_own(server: ModelServer, http: httpx2.AsyncClient) -> None:
    server.script.append(Reply("one two three", fault=Fault.ERROR_EVENT))
    *_, last = lines_of(await chat(http, HI))
    assert last.keys() == {"error"}


async def test_models_are_listed_and_shown(http: httpx2.AsyncClient) -> None:
    names = [model["name"] for model in (await http.get("/api/tags")).json()["models"]]
    assert names == ["llama3.2:latest", "nomic-embed-text:latest"]
    shown = (await http.post("/api/show", json={"model": names[0]})).json()
    assert shown["capabilities"] == ["completion", "tools", "thinking", "vision"]
    assert shown["model_info"]["llama.context_length"] == 32_768
    assert (await http.post("/api/show", json={"model": names[1]})).json()["capabilities"] == ["embedding"]
    missing = await http.post("/api/show", json={"model": "other"})
    assert (missing.status_code, missing.json().keys()) == (404, {"error"})


async def test_fake_ollama_is_found_by_its_version_and_its_greeting(http: httpx2.AsyncClient) -> None:
    assert (await http.get("/api/version")).json().keys() == {"version"}
    assert (await http.get("/")).text == "Ollama is running"


async def test_texts_become_vectors(http: httpx2.AsyncClient) -> None:
    answer = (await http.post("/api/embed", json={"model": "nomic-embed-text", "input": ["one", "two"]})).json()
    assert answer.keys() == {"model", "embeddings", "total_duration", "load_duration", "prompt_eval_count"}
    assert [math.hypot(*vector) for vector in answer["embeddings"]] == [pytest.approx(1.0)] * 2
    refused = await http.post("/api/embed", json={"model": "nomic-embed-text", "input": "FAULT overloaded"})
    assert refused.status_code == 503
