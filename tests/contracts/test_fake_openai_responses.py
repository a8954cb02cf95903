"""The fake server is what the official OpenAI SDK takes for the real one: Responses."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai.types.responses import FunctionToolParam, Response

from hob.testing.model_server import Fault, ModelServer, Reply

from .plain import PLAIN

ASK: list[Any] = [{"role": "user", "content": 'CALL add {"a": 1}\nCALL add {"a": 2}'}]
TOOLS: list[FunctionToolParam] = [
    {"type": "function", "name": "add", "parameters": {"type": "object", "properties": {}}, "strict": False}
]
SEALED: Any = {"include": ["reasoning.encrypted_content"], "store": False, "reasoning": {"effort": "low"}}


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


def results_of(response: Response) -> list[Any]:
    calls = [item for item in response.output if item.type == "function_call"]
    return [
        {"type": "function_call_output", "call_id": call.call_id, "output": f"is {n}"} for n, call in enumerate(calls)
    ]


def items_of(response: Response) -> list[Any]:
    return [item.to_dict(mode="json") for item in response.output]


async def test_whole_response(client: openai.AsyncOpenAI) -> None:
    answer = await client.responses.create(model="m", input="Grüß dich, 世界", instructions="Be good.")
    assert answer.output_text == "You said: Grüß dich, 世界"
    assert answer.status == "completed"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens


async def test_stream_in_order_and_numbered(server: ModelServer, client: openai.AsyncOpenAI) -> None:
    server.script.append(Reply("So be it.", calls=(("add", '{"a": "1 \\" 2"}'),), reasoning="Add, I should."))
    stream = await client.responses.create(
        model="m", input="x", stream=True, reasoning={"effort": "low", "summary": "auto"}
    )
    events = [event async for event in stream]
    assert [event.sequence_number for event in events] == list(range(len(events)))
    kinds = [event.type for event in events]
    assert kinds[:3] == ["response.created", "response.in_progress", "response.output_item.added"]
    last = events[-1]
    assert last.type == "response.completed"
    assert last.response.usage is not None
    summary = "".join(event.delta for event in events if event.type == "response.reasoning_summary_text.delta")
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    arguments = "".join(event.delta for event in events if event.type == "response.function_call_arguments.delta")
    assert (summary, text, arguments) == ("Add, I should.", "So be it.", '{"a": "1 \\" 2"}')


@pytest.mark.parametrize("fault", [None, Fault.INTERLEAVED, Fault.SPLIT_ESCAPE, Fault.CRLF, Fault.DRIP])
async def test_sdks_own_decoder_puts_calls_together(
    server: ModelServer, client: openai.AsyncOpenAI, fault: Fault | None
) -> None:
    server.script.append(Reply(calls=(("add", '{"a": "\\u00e9\\n"}'), ("add", '{"b": 2}')), fault=fault))
    async with client.responses.stream(model="m", input="x", tools=TOOLS) as stream:
        answer = await stream.get_final_response()
    calls = [item.arguments for item in answer.output if item.type == "function_call"]
    assert calls == ['{"a": "\\u00e9\\n"}', '{"b": 2}']


async def test_tool_loop_gives_sealed_reasoning_back(client: openai.AsyncOpenAI) -> None:
    asked = await client.responses.create(model="m", input=ASK, tools=TOOLS, **SEALED)
    assert asked.output[0].type == "reasoning"
    assert asked.output[0].encrypted_content
    assert asked.output[0].summary == []
    told = await client.responses.create(
        model="m", input=[*ASK, *items_of(asked), *results_of(asked)], tools=TOOLS, **SEALED
    )
    assert told.output_text == "The tool said: is 0 | is 1"


async def test_reasoning_out_of_place_is_refused(client: openai.AsyncOpenAI) -> None:
    asked = await client.responses.create(model="m", input=ASK, tools=TOOLS, **SEALED)
    reasoning, *calls = items_of(asked)
    for items, complaint in (
        ([*calls, reasoning, *results_of(asked)], "without its required following item"),
        ([{**reasoning, "encrypted_content": "AAAA"}, *calls, *results_of(asked)], "could not be verified"),
        ([reasoning, reasoning, *calls, *results_of(asked)], "Duplicate item"),
    ):
        with pytest.raises(openai.BadRequestError, match=complaint):
            await client.responses.create(model="m", input=[*ASK, *items], **SEALED)
    unsealed: Any = {name: value for name, value in reasoning.items() if name != "encrypted_content"}
    with pytest.raises(openai.NotFoundError, match="not persisted"):
        await client.responses.create(model="m", input=[*ASK, unsealed, *calls, *results_of(asked)], **SEALED)


CALL = {"type": "function_call", "call_id": "c1", "name": "add", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "x"}


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        ([*ASK, CALL], "No tool output found for function call c1"),
        ([*ASK, OUTPUT], "No tool call found"),
        ([*ASK, {**CALL, "id": "call_1"}, OUTPUT], "begins with 'fc'"),
        ([*ASK, {**CALL, "name": "a.b"}, OUTPUT], "does not match"),
        ([{"role": "user", "content": [{"type": "text", "text": "x"}]}], "Supported values are: 'input_text'"),
        ([{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}], "'output_text', 'refusal'"),
        ([{"role": "tool", "content": "x"}], "Invalid value: 'tool'"),
        ([{"type": "thought"}], "Invalid value: 'thought'"),
        ([], "Missing required parameter: 'input'"),
    ],
)
async def test_items_out_of_order_are_refused(client: openai.AsyncOpenAI, items: Any, complaint: str) -> None:
    with pytest.raises(openai.BadRequestError, match=complaint):
        await client.responses.create(model="m", input=items)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"max_output_tokens": 5}, ">= 16"),
        ({"previous_response_id": "resp_1"}, "not found"),
        ({"tools": [{"type": "function", "function": {"name": "add"}}]}, r"Missing required parameter: 'tools\[0\]"),
    ],
)
async def test_request_with_mistakes_is_refused(
    client: openai.AsyncOpenAI, more: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=complaint):
        await client.responses.create(model="m", input="x", extra_body=more)


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.OVERFLOW, openai.BadRequestError),
        (Fault.UNAUTHORIZED, openai.AuthenticationError),
        (Fault.NOT_FOUND, openai.NotFoundError),
        (Fault.RATE_DATE, openai.RateLimitError),
        (Fault.OVERLOADED, openai.InternalServerError),
        (Fault.CUT_BEFORE, openai.APIConnectionError),
    ],
)
async def test_failures_become_the_sdks_own(
    server: ModelServer, client: openai.AsyncOpenAI, fault: Fault, error: type[Exception]
) -> None:
    server.script.append(Reply("x", fault=fault))
    with pytest.raises(error):
        await client.responses.create(model="m", input="x")


async def test_response_that_fails_midway_says_why(server: ModelServer, client: openai.AsyncOpenAI) -> None:
    server.script.append(Reply("one two three", fault=Fault.ERROR_EVENT))
    stream = await client.responses.create(model="m", input="x", stream=True)
    events = [event async for event in stream]
    last = events[-1]
    assert last.type == "response.failed"
    assert last.response.error is not None
    assert last.response.error.code == "server_error"


async def test_error_may_come_alone(server: ModelServer, client: openai.AsyncOpenAI) -> None:
    server.script.append(Reply("one", fault=Fault.ERROR_FIRST))
    stream = await client.responses.create(model="m", input="x", stream=True)
    *_, last = [event async for event in stream]
    assert last.type == "error"
    assert last.code == "server_error"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [(Reply("one", truncated=True), "max_output_tokens"), (Reply("one", fault=Fault.FILTERED), "content_filter")],
)
async def test_response_that_is_not_whole_says_why(
    server: ModelServer, client: openai.AsyncOpenAI, reply: Reply, reason: str
) -> None:
    server.script.append(reply)
    stream = await client.responses.create(model="m", input="x", stream=True)
    last = [event async for event in stream][-1]
    assert last.type == "response.incomplete"
    assert last.response.incomplete_details is not None
    assert last.response.incomplete_details.reason == reason


async def test_beginning_that_was_sent_before_is_cached(client: openai.AsyncOpenAI) -> None:
    async def cached(text: str) -> int:
        answer = await client.responses.create(model="m", input=text, instructions="Be good. " * 1000)
        assert answer.usage is not None
        return answer.usage.input_tokens_details.cached_tokens

    assert await cached("one") == 0
    assert await cached("two") > 2000


async def test_tools_may_be_told_in_the_input(client: openai.AsyncOpenAI) -> None:
    tools = {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": []}
    said = {"type": "message", "role": "user", "content": "hi"}
    items: Any = [tools, said]
    response = await client.responses.create(model="gpt-5", input=items)
    assert response.output_text
