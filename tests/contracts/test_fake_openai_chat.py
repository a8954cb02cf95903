"""The fake server is what the official OpenAI SDK takes for the real one: chat completions."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam

from hob.testing.model_server import Fault, ModelServer, Reply

from .plain import PLAIN

HI: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Grüß dich, 世界"}]
TOOLS: list[ChatCompletionToolParam] = [
    {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(key="sk-right") as server:
        yield server


@pytest.fixture
async def client(server: ModelServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        base_url=server.url,
        api_key="sk-right",
        max_retries=0,
        timeout=10,
        http_client=openai.DefaultAsyncHttpxClient(verify=PLAIN),
    ) as client:
        yield client


async def test_completion_without_stream(client: openai.AsyncOpenAI) -> None:
    answer = await client.chat.completions.create(model="m", messages=HI)
    assert answer.choices[0].message.content == "You said: Grüß dich, 世界"
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


async def test_sections_that_the_system_text_names_are_filled(client: openai.AsyncOpenAI) -> None:
    system: ChatCompletionMessageParam = {"role": "system", "content": "Reply with these sections:\n## Goals\n## Facts"}
    answer = await client.chat.completions.create(model="m", messages=[system, *HI])
    assert answer.choices[0].message.content == "## Goals\n- nothing of note\n\n## Facts\n- nothing of note"


async def test_streamed_completion_with_usage(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="m", messages=HI, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == "You said: Grüß dich, 世界"
    assert chunks[-1].usage is not None
    assert chunks[0].usage is None


async def test_streamed_tool_calls_are_put_together(server: ModelServer, client: openai.AsyncOpenAI) -> None:
    server.script.append(Reply(calls=(("add", '{"a": "1 \\" 2"}'), ("add", '{"b": 2}')), fault=Fault.INTERLEAVED))
    async with client.chat.completions.stream(model="m", messages=HI, tools=TOOLS) as stream:
        answer = await stream.get_final_completion()
    calls = answer.choices[0].message.tool_calls
    assert calls is not None
    assert [json.loads(call.function.arguments) for call in calls] == [{"a": '1 " 2'}, {"b": 2}]
    assert answer.choices[0].finish_reason == "tool_calls"


async def test_tool_round_by_convention(client: openai.AsyncOpenAI) -> None:
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": 'CALL add {"a": 1}\nCALL add {"a": 2}'}]
    asked = await client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
    calls = asked.choices[0].message.tool_calls
    assert calls is not None
    messages.append(asked.choices[0].message.to_dict())  # type: ignore[arg-type]
    messages += [{"role": "tool", "tool_call_id": call.id, "content": f"is {n}"} for n, call in enumerate(calls)]
    told = await client.chat.completions.create(model="m", messages=messages, tools=TOOLS)
    assert told.choices[0].message.content == "The tool said: is 0 | is 1"


async def test_models_are_listed(client: openai.AsyncOpenAI) -> None:
    assert [model.id async for model in client.models.list()] == ["fake-1"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.BAD_REQUEST, openai.BadRequestError),
        (Fault.OVERFLOW, openai.BadRequestError),
        (Fault.UNAUTHORIZED, openai.AuthenticationError),
        (Fault.FORBIDDEN, openai.PermissionDeniedError),
        (Fault.NOT_FOUND, openai.NotFoundError),
        (Fault.RATE_SHORT, openai.RateLimitError),
        (Fault.RATE_DATE, openai.RateLimitError),
        (Fault.QUOTA, openai.RateLimitError),
        (Fault.PAYMENT, openai.APIStatusError),
        (Fault.ERROR_500, openai.InternalServerError),
        (Fault.OVERLOADED, openai.InternalServerError),
        (Fault.HTML_502, openai.InternalServerError),
        (Fault.CUT_BEFORE, openai.APIConnectionError),
    ],
)
async def test_failures_become_the_sdks_own(
    server: ModelServer, client: openai.AsyncOpenAI, fault: Fault, error: type[Exception]
) -> None:
    server.script.append(Reply("x", fault=fault))
    with pytest.raises(error):
        await client.chat.completions.create(model="m", messages=HI)


async def test_rate_limit_says_how_long(server: ModelServer, client: openai.AsyncOpenAI) -> None:
    server.script.append(Reply(fault=Fault.RATE_SHORT, retry_after=7))
    with pytest.raises(openai.RateLimitError) as caught:
        await client.chat.completions.create(model="m", messages=HI)
    headers = caught.value.response.headers
    assert (headers["retry-after"], headers["x-ratelimit-reset-requests"]) == ("7", "7s")
    assert headers["x-ratelimit-remaining-requests"] == "0"
    assert caught.value.request_id


async def test_beginning_that_was_sent_before_is_cached(client: openai.AsyncOpenAI) -> None:
    long: ChatCompletionMessageParam = {"role": "system", "content": "Be good. " * 1000}

    async def cached(*messages: ChatCompletionMessageParam) -> int | None:
        answer = await client.chat.completions.create(model="m", messages=messages)
        assert answer.usage is not None
        assert answer.usage.prompt_tokens_details is not None
        return answer.usage.prompt_tokens_details.cached_tokens

    assert await cached(long, *HI) == 0
    found = await cached(long, {"role": "user", "content": "Something else"})
    assert found is not None
    assert 2000 < found < 2400
    assert found % 128 == 0
    assert await cached(*HI) == 0


async def test_error_inside_a_stream_is_raised(server: ModelServer, client: openai.AsyncOpenAI) -> None:
    server.script.append(Reply("one two three", fault=Fault.ERROR_EVENT))
    stream = await client.chat.completions.create(model="m", messages=HI, stream=True)
    with pytest.raises(openai.APIError, match="had an error"):
        _ = [chunk async for chunk in stream]


async def test_wrong_key_is_refused(server: ModelServer) -> None:
    async with openai.AsyncOpenAI(
        base_url=server.url, api_key="sk-wrong", max_retries=0, http_client=openai.DefaultAsyncHttpxClient(verify=PLAIN)
    ) as client:
        with pytest.raises(openai.AuthenticationError, match="sk-wrong"):
            await client.chat.completions.create(model="m", messages=HI)


async def test_result_without_its_call_is_refused(client: openai.AsyncOpenAI) -> None:
    lone: list[ChatCompletionMessageParam] = [*HI, {"role": "tool", "tool_call_id": "c1", "content": "x"}]
    with pytest.raises(openai.BadRequestError, match="must follow"):
        await client.chat.completions.create(model="m", messages=lone)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"tools": [{"type": "function", "function": {"name": "a.b"}}]}, r"tools\[0\]\.function\.name"),
        ({"tools": [{"type": "function", "function": {"name": "a" * 65}}]}, "longer than 64"),
        ({"tools": [{"type": "function", "name": "add"}]}, "Missing required parameter"),
        ({"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "string"}}}]}, "object"),
        ({"tools": []}, "array of 1 to 128"),
        ({"messages": [{"role": "user", "content": None}]}, "expected a string, got null"),
        ({"messages": [{"role": "user", "content": [{"type": "image", "source": {}}]}]}, "Invalid value: 'image'"),
        ({"messages": [{"role": "assistant", "content": "x", "tool_calls": []}]}, "empty array"),
        ({"messages": []}, "not empty"),
        ({"model": ""}, "must provide a model"),
    ],
)
async def test_request_with_mistakes_is_refused(
    client: openai.AsyncOpenAI, more: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=complaint):
        await client.chat.completions.create(model="m", messages=HI, extra_body=more)


async def test_strict_schema_must_be_closed(client: openai.AsyncOpenAI) -> None:
    open_schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    for schema, complaint in (
        (open_schema, "additionalProperties"),
        ({**open_schema, "additionalProperties": False, "required": []}, "'required' must name every key"),
    ):
        function: Any = {"name": "add", "strict": True, "parameters": schema}
        with pytest.raises(openai.BadRequestError, match=complaint):
            await client.chat.completions.create(
                model="m", messages=HI, tools=[{"type": "function", "function": function}]
            )


@pytest.fixture
def outside() -> Iterator[str]:
    """The server as a program; its base URL."""
    command = [sys.executable, "-m", "hob.testing.model_server", "--say", "as told"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()
        assert process.wait(10) == 0


def test_program_serves_the_synchronous_sdk(outside: str) -> None:
    with openai.OpenAI(base_url=outside, api_key="any", max_retries=0) as client:
        assert client.chat.completions.create(model="m", messages=HI).choices[0].message.content == "as told"
        stream = client.chat.completions.create(model="m", messages=HI, stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "as told"
        assert [model.id for model in client.models.list()] == ["fake-1"]


def test_program_takes_a_script_and_tells_what_it_was_asked(outside: str) -> None:
    root = outside.removesuffix("/v1")
    httpx2.post(f"{root}/_fake/script", json=["first", {"text": "x", "fault": "error_503"}]).raise_for_status()
    with openai.OpenAI(base_url=outside, api_key="any", max_retries=0) as client:
        assert client.chat.completions.create(model="m", messages=HI).choices[0].message.content == "first"
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="m", messages=HI)
    asked = httpx2.get(f"{root}/_fake/requests").json()
    assert [json.loads(row["body"])["messages"] for row in asked] == [HI, HI]
