"""The fake server is what the official Anthropic SDK takes for the real one."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, cast

import anthropic
import pytest
from anthropic.types import MessageParam, ToolParam

from hob.testing.model_server import Fault, ModelServer, Reply

from .plain import PLAIN

HI: list[MessageParam] = [{"role": "user", "content": "Grüß dich, 世界"}]
ASK: list[MessageParam] = [{"role": "user", "content": 'CALL add {"a": 1}\nCALL add {"a": 2}'}]
TOOLS: list[ToolParam] = [
    {"name": "add", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}, "strict": True}
]
THINKING: Any = {"type": "enabled", "budget_tokens": 1024}


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(key="sk-right") as server:
        yield server


@pytest.fixture
async def client(server: ModelServer) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(
        base_url=server.root,
        api_key="sk-right",
        max_retries=0,
        timeout=10,
        http_client=anthropic.DefaultAsyncHttpxClient(verify=PLAIN),
    ) as client:
        yield client


def results_of(message: anthropic.types.Message) -> MessageParam:
    calls = [block for block in message.content if block.type == "tool_use"]
    return {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": call.id, "content": f"is {n}"} for n, call in enumerate(calls)
        ],
    }


async def test_message_without_stream(client: anthropic.AsyncAnthropic) -> None:
    answer = await client.messages.create(model="m", max_tokens=100, messages=HI)
    assert [block.text for block in answer.content if block.type == "text"] == ["You said: Grüß dich, 世界"]
    assert answer.stop_reason == "end_turn"
    assert answer.usage.input_tokens > 0


async def test_streamed_message_has_thinking_text_and_calls(
    server: ModelServer, client: anthropic.AsyncAnthropic
) -> None:
    server.script.append(Reply("So be it.", calls=(("add", '{"a": "1 \\" 2"}'),), reasoning="Add, I should."))
    async with client.messages.stream(
        model="m", max_tokens=5000, messages=HI, tools=TOOLS, thinking=THINKING
    ) as stream:
        kinds = [event.type async for event in stream]
        answer = await stream.get_final_message()
    thinking, text, call = answer.content
    assert thinking.type == "thinking"
    assert (thinking.thinking, bool(thinking.signature)) == ("Add, I should.", True)
    assert text.type == "text"
    assert text.text == "So be it."
    assert call.type == "tool_use"
    assert call.input == {"a": '1 " 2'}
    assert answer.stop_reason == "tool_use"
    assert answer.usage.output_tokens > 1
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"


async def test_interleaved_blocks_are_put_together(server: ModelServer, client: anthropic.AsyncAnthropic) -> None:
    server.script.append(Reply(calls=(("add", '{"a": 1}'), ("add", '{"b": "\\u00e9"}')), fault=Fault.INTERLEAVED))
    async with client.messages.stream(model="m", max_tokens=100, messages=HI, tools=TOOLS) as stream:
        answer = await stream.get_final_message()
    assert [block.input for block in answer.content if block.type == "tool_use"] == [{"a": 1}, {"b": "é"}]


@pytest.mark.parametrize("fault", [None, Fault.REDACTED])
async def test_tool_loop_gives_the_thinking_back(
    server: ModelServer, client: anthropic.AsyncAnthropic, fault: Fault | None
) -> None:
    server.script.append(Reply(calls=(("add", "{}"), ("add", "{}")), fault=fault))
    asked = await client.messages.create(model="m", max_tokens=5000, messages=ASK, tools=TOOLS, thinking=THINKING)
    messages = [*ASK, cast(MessageParam, asked.to_param()), results_of(asked)]
    told = await client.messages.create(model="m", max_tokens=5000, messages=messages, tools=TOOLS, thinking=THINKING)
    assert [block.text for block in told.content if block.type == "text"] == ["The tool said: is 0 | is 1"]


async def test_tool_loop_that_lost_the_thinking_is_refused(client: anthropic.AsyncAnthropic) -> None:
    asked = await client.messages.create(model="m", max_tokens=5000, messages=ASK, tools=TOOLS, thinking=THINKING)
    lost: Any = [block for block in asked.content if block.type != "thinking"]
    messages: list[MessageParam] = [*ASK, {"role": "assistant", "content": lost}, results_of(asked)]
    with pytest.raises(anthropic.BadRequestError, match="Expected `thinking`"):
        await client.messages.create(model="m", max_tokens=5000, messages=messages, tools=TOOLS, thinking=THINKING)


async def test_thinking_that_was_changed_is_refused(client: anthropic.AsyncAnthropic) -> None:
    asked = await client.messages.create(model="m", max_tokens=5000, messages=ASK, tools=TOOLS, thinking=THINKING)
    first = asked.content[0]
    assert first.type == "thinking"
    first.thinking = "Something else."
    messages = [*ASK, cast(MessageParam, asked.to_param()), results_of(asked)]
    with pytest.raises(anthropic.BadRequestError, match=r"messages\.1\.content\.0: Invalid `signature`"):
        await client.messages.create(model="m", max_tokens=5000, messages=messages, tools=TOOLS, thinking=THINKING)


async def test_newer_models_refuse_what_they_thought_after_another_beginning(client: anthropic.AsyncAnthropic) -> None:
    thinking: Any = {"type": "adaptive"}
    asked = await client.messages.create(
        model="claude-opus-5-5", max_tokens=9, messages=ASK, tools=TOOLS, thinking=thinking
    )
    rest = [cast(MessageParam, asked.to_param()), results_of(asked)]
    same = await client.messages.create(
        model="claude-opus-5-5", max_tokens=9, messages=[*ASK, *rest], tools=TOOLS, thinking=thinking
    )
    assert same.stop_reason == "end_turn"
    with pytest.raises(anthropic.BadRequestError, match="bound to a different conversation"):
        await client.messages.create(
            model="claude-opus-5-5", max_tokens=9, system="New.", messages=[*ASK, *rest], tools=TOOLS, thinking=thinking
        )


async def test_omitted_thinking_is_signed_all_the_same(client: anthropic.AsyncAnthropic) -> None:
    omitted: Any = {**THINKING, "display": "omitted"}
    asked = await client.messages.create(model="m", max_tokens=5000, messages=ASK, tools=TOOLS, thinking=omitted)
    first = asked.content[0]
    assert first.type == "thinking"
    assert (first.thinking, bool(first.signature)) == ("", True)
    messages = [*ASK, cast(MessageParam, asked.to_param()), results_of(asked)]
    told = await client.messages.create(model="m", max_tokens=5000, messages=messages, tools=TOOLS, thinking=omitted)
    assert told.stop_reason == "end_turn"


async def test_marked_parts_alone_are_cached(client: anthropic.AsyncAnthropic) -> None:
    system: Any = [{"type": "text", "text": "Be good. " * 1000, "cache_control": {"type": "ephemeral"}}]

    async def usage(system: Any) -> anthropic.types.Usage:
        return (await client.messages.create(model="m", max_tokens=100, messages=HI, system=system)).usage

    first, second = await usage(system), await usage(system)
    plain = await usage([{"type": "text", "text": "Be bad. " * 1000}])
    again = await usage([{"type": "text", "text": "Be bad. " * 1000}])
    assert first.cache_creation_input_tokens
    assert (first.cache_read_input_tokens, second.cache_creation_input_tokens) == (0, 0)
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    assert first.input_tokens == second.input_tokens
    assert (plain.cache_creation_input_tokens, again.cache_read_input_tokens) == (0, 0)


async def test_growing_conversation_reads_what_it_wrote(client: anthropic.AsyncAnthropic) -> None:
    def said(text: str, **more: Any) -> Any:
        return {"role": "user", "content": [{"type": "text", "text": text, **more}]}

    mark = {"cache_control": {"type": "ephemeral"}}
    long = "word " * 2000
    answer: Any = {"role": "assistant", "content": "ok"}
    first = await client.messages.create(model="m", max_tokens=9, messages=[said(long, **mark)])
    second = await client.messages.create(model="m", max_tokens=9, messages=[said(long), answer, said(long, **mark)])
    assert second.usage.cache_read_input_tokens == first.usage.cache_creation_input_tokens
    assert second.usage.cache_creation_input_tokens


async def test_tokens_are_counted_and_models_listed(client: anthropic.AsyncAnthropic) -> None:
    few = await client.messages.count_tokens(model="m", messages=HI)
    many = await client.messages.count_tokens(model="m", messages=HI, system="word " * 100)
    assert many.input_tokens > few.input_tokens + 100
    models = [model async for model in client.models.list()]
    assert [(model.id, model.max_input_tokens) for model in models] == [("fake-1", 32_768)]
    assert isinstance(models[0].created_at, datetime)
    assert (await client.models.retrieve("fake-1")).display_name == "Fake 1"
    with pytest.raises(anthropic.NotFoundError):
        await client.models.retrieve("fake-9")


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.BAD_REQUEST, anthropic.BadRequestError),
        (Fault.OVERFLOW, anthropic.BadRequestError),
        (Fault.QUOTA, anthropic.BadRequestError),
        (Fault.UNAUTHORIZED, anthropic.AuthenticationError),
        (Fault.FORBIDDEN, anthropic.PermissionDeniedError),
        (Fault.NOT_FOUND, anthropic.NotFoundError),
        (Fault.RATE_SHORT, anthropic.RateLimitError),
        (Fault.PAYMENT, anthropic.PaymentRequiredError),
        (Fault.ERROR_500, anthropic.InternalServerError),
        (Fault.ERROR_503, anthropic.ServiceUnavailableError),
        (Fault.OVERLOADED, anthropic.OverloadedError),
        (Fault.HTML_502, anthropic.InternalServerError),
        (Fault.CUT_BEFORE, anthropic.APIConnectionError),
    ],
)
async def test_failures_become_the_sdks_own(
    server: ModelServer, client: anthropic.AsyncAnthropic, fault: Fault, error: type[Exception]
) -> None:
    server.script.append(Reply("x", fault=fault))
    with pytest.raises(error):
        await client.messages.create(model="m", max_tokens=9, messages=HI)


async def test_rate_limit_says_how_long(server: ModelServer, client: anthropic.AsyncAnthropic) -> None:
    server.script.append(Reply(fault=Fault.RATE_SHORT, retry_after=7))
    with pytest.raises(anthropic.RateLimitError) as caught:
        await client.messages.create(model="m", max_tokens=9, messages=HI)
    assert caught.value.type == "rate_limit_error"
    assert caught.value.request_id == caught.value.body["request_id"]  # type: ignore[index]
    headers = caught.value.response.headers
    assert headers["retry-after"] == "7"
    assert headers["anthropic-ratelimit-requests-remaining"] == "0"
    assert datetime.fromisoformat(headers["anthropic-ratelimit-requests-reset"]) > datetime.now(UTC)


async def test_sdk_comes_through_an_overload_by_itself(server: ModelServer) -> None:
    server.script.append(Reply(fault=Fault.OVERLOADED, retry_after=0))
    async with anthropic.AsyncAnthropic(
        base_url=server.root,
        auth_token="sk-right",
        max_retries=1,
        http_client=anthropic.DefaultAsyncHttpxClient(verify=PLAIN),
    ) as client:
        answer = await client.messages.create(model="m", max_tokens=9, messages=HI)
    assert answer.content
    assert len(server.chats) == 2


async def test_error_inside_a_stream_is_raised(server: ModelServer, client: anthropic.AsyncAnthropic) -> None:
    server.script.append(Reply("one two three", fault=Fault.ERROR_EVENT))
    stream = await client.messages.create(model="m", max_tokens=9, messages=HI, stream=True)
    with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
        _ = [event async for event in stream]


async def test_wrong_key_is_refused(server: ModelServer) -> None:
    async with anthropic.AsyncAnthropic(
        base_url=server.root,
        api_key="sk-wrong",
        max_retries=0,
        http_client=anthropic.DefaultAsyncHttpxClient(verify=PLAIN),
    ) as client:
        with pytest.raises(anthropic.AuthenticationError):
            await client.messages.create(model="m", max_tokens=9, messages=HI)


def use(name: str) -> Any:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": name, "name": "add", "input": {}}]}


def result(name: str) -> Any:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": name, "content": "x"}]}


@pytest.mark.parametrize(
    ("messages", "complaint"),
    [
        ([], "at least one message"),
        ([{"role": "assistant", "content": "Hello"}], "first message must use"),
        ([{"role": "system", "content": "Be good."}, *HI], "Unexpected role"),
        ([{"role": "user", "content": ""}], "non-empty"),
        ([{"role": "user", "content": [{"type": "text", "text": ""}]}], "must be non-empty"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "x"}]}], "does not match any"),
        ([{"role": "user", "content": [{"type": "text", "text": "x", "id": "1"}]}], "Extra inputs"),
        ([*HI, use("t1")], "without `tool_result` blocks"),
        ([*HI, use("t1"), *HI], "without `tool_result` blocks immediately after: t1"),
        ([*HI, use("t1"), result("t2")], "unexpected `tool_use_id`"),
        ([*HI, result("t1")], "unexpected `tool_use_id`"),
        ([*HI, use("t1"), result("t1"), use("t1"), result("t1")], "must be unique"),
        ([*HI, use("call|1"), result("call|1")], "should match pattern"),
    ],
)
async def test_conversation_out_of_order_is_refused(
    client: anthropic.AsyncAnthropic, messages: Any, complaint: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=complaint):
        await client.messages.create(model="m", max_tokens=9, messages=messages)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"max_tokens": 0}, "max_tokens"),
        ({"frobnicate": 1}, "frobnicate: Extra inputs"),
        ({"thinking": {"type": "enabled", "budget_tokens": 100}}, "budget_tokens"),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "must be greater"),
        ({"tools": [{"name": "a.b", "input_schema": {"type": "object"}}]}, "tools.0.custom.name"),
        ({"tools": [{"name": "a", "input_schema": {}}]}, "input_schema.type"),
        ({"tools": [{"name": "a", "input_schema": {"type": "object", "anyOf": []}}]}, "does not support oneOf"),
        ({"tools": TOOLS * 2}, "must be unique"),
        ({"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5}, "maximum of 4"),
    ],
)
async def test_request_with_mistakes_is_refused(
    client: anthropic.AsyncAnthropic, more: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(anthropic.BadRequestError, match=complaint):
        await client.messages.create(model="m", messages=HI, extra_body=more, max_tokens=more.get("max_tokens", 100))


async def test_neighbours_of_one_role_are_one_turn(client: anthropic.AsyncAnthropic) -> None:
    messages: list[MessageParam] = [*HI, use("t1"), use("t2"), result("t1"), result("t2")]
    answer = await client.messages.create(model="m", max_tokens=9, messages=messages)
    assert [block.text for block in answer.content if block.type == "text"] == ["The tool said: x | x"]


async def test_answer_that_came_to_its_limit_says_so(server: ModelServer, client: anthropic.AsyncAnthropic) -> None:
    server.script.append(Reply("cut off", truncated=True))
    async with client.messages.stream(model="m", max_tokens=9, messages=HI) as stream:
        assert "".join([text async for text in stream.text_stream]) == "cut off"
        assert (await stream.get_final_message()).stop_reason == "max_tokens"


@pytest.mark.parametrize("fault", [Fault.PINGS, Fault.CRLF, Fault.DRIP, Fault.SPLIT_ESCAPE, Fault.NO_DONE])
async def test_sdk_does_not_mind_oddities(server: ModelServer, client: anthropic.AsyncAnthropic, fault: Fault) -> None:
    server.script.append(Reply("世界 and all", calls=(("add", '{"a": "\\u00e9"}'),), fault=fault))
    async with client.messages.stream(model="m", max_tokens=9, messages=HI, tools=TOOLS) as stream:
        text, call = (await stream.get_final_message()).content
    assert text.type == "text"
    assert text.text == "世界 and all"
    assert call.type == "tool_use"
    assert call.input == {"a": "é"}


async def test_refusal_gives_its_reason(server: ModelServer, client: anthropic.AsyncAnthropic) -> None:
    server.script.append(Reply("I", fault=Fault.FILTERED))
    async with client.messages.stream(model="m", max_tokens=9, messages=HI) as stream:
        answer = await stream.get_final_message()
    assert answer.stop_reason == "refusal"
    assert answer.stop_details is not None
    assert answer.stop_details.explanation
