"""OpenAI's client with its own tools, response formats and stop words, against the real daemon and across kills."""

import asyncio
import json
from collections.abc import Coroutine
from typing import Any

import openai
import pytest
from pydantic import BaseModel

from hob.testing.model_server import Reply
from tests.journeys.world import SHARED, Shared, World, held_port, until

from .test_openai_sdk import asked, client_of, titles

WEATHER: Any = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
FLAT: Any = {"type": "function", **WEATHER["function"]}
ASK = 'CALL get_weather {"city": "Paris"}'


def question(text: str = ASK) -> list[Any]:
    return [{"role": "user", "content": text}]


def performed(message: Any) -> list[Any]:
    """Return the assistant's message and a result for each of its calls."""
    results = [
        {"role": "tool", "tool_call_id": call.id, "content": f"rain in {json.loads(call.function.arguments)['city']}"}
        for call in message.tool_calls
    ]
    return [message.model_dump(exclude_none=True), *results]


@SHARED
async def test_client_runs_its_tools_and_the_same_turn_continues(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    before = await titles(daemon)
    async with client_of(daemon.url) as client:
        messages = question()
        first = await client.chat.completions.create(model="hob", messages=messages, tools=[WEATHER])
        assert first.choices[0].finish_reason == "tool_calls"
        messages += performed(first.choices[0].message)
        answer = await client.chat.completions.create(model="hob", messages=messages, tools=[WEATHER])
        assert "rain in Paris" in (answer.choices[0].message.content or "")
        assert answer.id == first.id
        assert len(await titles(daemon)) == len(before) + 1
        again = await client.chat.completions.create(model="hob", messages=messages, tools=[WEATHER])
        assert again.choices[0].message.content == answer.choices[0].message.content
        assert asked(world) == 2


@SHARED
async def test_parallel_calls_need_a_result_each(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    two = (("get_weather", '{"city": "Rome"}'), ("get_weather", '{"city": "Oslo"}'))
    world.model.script.append(Reply("Looking.", calls=two))
    async with client_of(daemon.url) as client:
        messages = question("compare them")
        first = await client.chat.completions.create(model="hob", messages=messages, tools=[WEATHER])
        told = performed(first.choices[0].message)
        assert len(told) == 3
        with pytest.raises(openai.BadRequestError, match="no result for"):
            await client.chat.completions.create(model="hob", messages=[*messages, *told[:2]], tools=[WEATHER])
        world.model.script.append(Reply("Rome is wet, Oslo too."))
        answer = await client.chat.completions.create(model="hob", messages=[*messages, *told], tools=[WEATHER])
        assert answer.choices[0].message.content == "Rome is wet, Oslo too."


@SHARED
async def test_streamed_calls_are_assembled_by_the_client(shared: Shared) -> None:
    ask = question(ASK.replace("Paris", "Lyon"))
    async with client_of(shared.daemon.url) as client:
        async with client.chat.completions.stream(model="hob", messages=ask, tools=[WEATHER]) as stream:
            first = await stream.get_final_completion()
        messages = [*ask, *performed(first.choices[0].message)]
        async with client.chat.completions.stream(model="hob", messages=messages, tools=[WEATHER]) as stream:
            answer = await stream.get_final_completion()
        assert "rain in Lyon" in (answer.choices[0].message.content or "")


@SHARED
@pytest.mark.parametrize("stream", [False, True])
async def test_responses_support_calls_and_results(shared: Shared, stream: bool) -> None:
    async with client_of(shared.daemon.url) as client:
        if stream:
            async with client.responses.stream(model="hob", input=ASK, tools=[FLAT]) as events:
                first: Any = await events.get_final_response()
        else:
            first = await client.responses.create(model="hob", input=ASK, tools=[FLAT])
        (call,) = [item for item in first.output if item.type == "function_call"]
        assert json.loads(call.arguments) == {"city": "Paris"}
        result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "sun in Paris"}
        answer = await client.responses.create(model="hob", input=[result], previous_response_id=first.id, tools=[FLAT])
        assert "sun in Paris" in answer.output_text


async def test_results_reach_the_turn_after_the_daemon_was_killed(world: World) -> None:
    with held_port() as held:
        await results_after_kills(world, str(held))


async def results_after_kills(world: World, port: str) -> None:
    client = client_of(f"http://127.0.0.1:{port}", max_retries=8)
    async with client:
        async with world.serve(HOB_GATEWAY_PORT=port) as daemon:
            messages = question()
            first = await client.chat.completions.create(model="hob", messages=messages, tools=[WEATHER])
            messages += performed(first.choices[0].message)
            daemon.kill()
            await daemon.gone()
        async with asyncio.TaskGroup() as group:
            world.model.script.append(Reply("Never heard.", delay=30))
            asking = group.create_task(client.chat.completions.create(model="hob", messages=messages, tools=[WEATHER]))
            async with world.serve(HOB_GATEWAY_PORT=port) as daemon:
                async with asyncio.timeout(20):
                    while asked(world) < 2:  # noqa: ASYNC110 - another process asks
                        await asyncio.sleep(0.02)
                daemon.kill()
                await daemon.gone()
            async with world.serve(HOB_GATEWAY_PORT=port):
                async with asyncio.timeout(40):
                    answer = await asking
        assert "rain in Paris" in (answer.choices[0].message.content or "")


async def test_results_reach_a_response_after_the_daemon_was_killed(world: World) -> None:
    with held_port() as held:
        client = client_of(f"http://127.0.0.1:{held}", max_retries=8)
        async with client:
            async with world.serve(HOB_GATEWAY_PORT=str(held)) as daemon:
                first = await client.responses.create(model="hob", input=ASK, tools=[FLAT])
                daemon.kill()
                await daemon.gone()
            (call,) = [item for item in first.output if item.type == "function_call"]
            result: Any = {"type": "function_call_output", "call_id": call.call_id, "output": "sun in Paris"}
            world.model.script.append(Reply("Never heard.", delay=30))
            answer = await answered_across_a_kill(
                world,
                held,
                client.responses.create(model="hob", input=[result], previous_response_id=first.id, tools=[FLAT]),
                after=2,
            )
        assert "sun in Paris" in answer.output_text


async def answered_across_a_kill(world: World, port: int, asking: Coroutine[Any, Any, Any], *, after: int) -> Any:
    """Return the answer to a request whose daemon is killed once the model was asked so often."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(asking)
        async with world.serve(HOB_GATEWAY_PORT=str(port)) as daemon:
            await until(lambda: asked(world) == after, 20)
            daemon.kill()
            await daemon.gone()
        async with world.serve(HOB_GATEWAY_PORT=str(port)), asyncio.timeout(40):
            return await task


async def test_required_tool_call_is_requested_again(world: World) -> None:
    world.model.script += [Reply("It rains, I guess."), Reply(calls=(("get_weather", '{"city": "Bonn"}'),))]
    async with world.serve() as daemon, client_of(daemon.url) as client:
        choice: Any = {"type": "function", "function": {"name": "get_weather"}}
        got = await client.chat.completions.create(
            model="hob", messages=question("weather?"), tools=[WEATHER], tool_choice=choice
        )
        assert got.choices[0].finish_reason == "tool_calls"
        assert asked(world) == 2


class Event(BaseModel):
    """A schema for structured output."""

    name: str
    guests: list[str]


@SHARED
async def test_answer_matches_the_requested_schema(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    world.model.script += [Reply("A fair, with Ann."), Reply('```json\n{"name": "fair", "guests": ["Ann"]}\n```')]
    async with client_of(daemon.url) as client:
        got = await client.chat.completions.parse(
            model="hob", messages=question("Ann goes to the fair"), response_format=Event
        )
        assert got.choices[0].message.parsed == Event(name="fair", guests=["Ann"])
        world.model.script.append(Reply('{"name": "fair", "guests": []}'))
        parsed = await client.responses.parse(model="hob", input="the fair", text_format=Event)
        assert parsed.output_parsed == Event(name="fair", guests=[])


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_structured_answer_arrives_although_the_daemon_is_killed(world: World, api: str) -> None:
    """It is killed while the model corrects an answer that does not match."""
    world.model.script += [Reply("A fair, with Ann."), Reply("Never heard.", delay=30)]
    world.model.script.append(Reply('{"name": "fair", "guests": ["Ann"]}'))
    with held_port() as port:
        async with client_of(f"http://127.0.0.1:{port}", max_retries=10) as client:
            if api == "chat":
                chat = client.chat.completions.parse(model="hob", messages=question("fair"), response_format=Event)
                got = await answered_across_a_kill(world, port, chat, after=2)
                parsed = got.choices[0].message.parsed
            else:
                response = client.responses.parse(model="hob", input="fair", text_format=Event)
                parsed = (await answered_across_a_kill(world, port, response, after=2)).output_parsed
    assert parsed == Event(name="fair", guests=["Ann"])
    assert asked(world) == 3


@SHARED
async def test_invalid_answer_is_an_error_after_three_tries(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    world.model.script += [Reply("no"), Reply("[1]"), Reply('{"guests": 3}')]
    async with client_of(daemon.url) as client:
        with pytest.raises(openai.APIStatusError) as caught:
            await client.chat.completions.parse(model="hob", messages=question("x"), response_format=Event)
        assert caught.value.code == "bad_format"
        assert asked(world) == 3


@SHARED
@pytest.mark.parametrize("stream", [False, True])
async def test_answer_ends_before_a_stop_word(shared: Shared, stream: bool) -> None:
    world, daemon = shared.world, shared.daemon
    world.model.script.append(Reply("one two STOP three"))
    async with client_of(daemon.url) as client:
        got: Any = await client.chat.completions.create(
            model="hob", messages=question("count"), stop=["STOP"], stream=stream
        )
        if stream:
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in got])
        else:
            text = got.choices[0].message.content
        assert text == "one two "


@SHARED
@pytest.mark.parametrize(
    ("wrong", "param"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools[0]"),
        ({"tools": [WEATHER, WEATHER]}, "tools"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "stop"),
        ({"messages": [{"role": "tool", "tool_call_id": "call_1", "content": "x"}]}, "messages"),
    ],
)
async def test_invalid_terms_are_refused_by_name(shared: Shared, wrong: Any, param: str) -> None:
    async with client_of(shared.daemon.url) as client:
        with pytest.raises(openai.BadRequestError) as caught:
            await client.chat.completions.create(**{"model": "hob", "messages": question("hi"), **wrong})
        assert caught.value.param == param
