"""OpenAI's own clients against the real daemon: retries and recovery after failures."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import openai
import pytest

from hob.testing.model_server import Reply
from tests.journeys.world import SHARED, TOKEN, Daemon, Shared, World, held_port, until

HI: Any = [{"role": "user", "content": "hi"}]


def client_of(url: str, **more: Any) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=TOKEN, **{"max_retries": 2, "timeout": 60, **more})


def asked(world: World) -> int:
    """Return how often the model was asked."""
    return sum(request.path.endswith("/chat/completions") for request in world.model.requests)


async def titles(daemon: Daemon) -> list[str]:
    return [task["title"] for task in (await daemon.ask("/tasks", all="1"))["tasks"]]


@asynccontextmanager
async def cutting(url: str) -> AsyncIterator[str]:
    """Run a proxy that drops the first answer."""
    host, _, port = url.removeprefix("http://").rpartition(":")
    answers = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal answers
        upstream, to_daemon = await asyncio.open_connection(host, int(port))

        async def up() -> None:
            while data := await reader.read(65536):
                to_daemon.write(data)
            to_daemon.close()

        async def down() -> None:
            nonlocal answers
            while data := await upstream.read(65536):
                answers += 1
                if answers == 1:
                    break
                writer.write(data)
            writer.close()
            reader.feed_eof()

        async with asyncio.TaskGroup() as group:
            group.create_task(up())
            group.create_task(down())

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def sync_calls(url: str) -> tuple[str, str, str]:
    """Return what the synchronous client gets: an answer, a stream, a response."""
    with openai.OpenAI(base_url=f"{url}/v1", api_key=TOKEN) as client:
        whole = client.chat.completions.create(model="hob", messages=HI)
        stream = client.chat.completions.create(model="hob", messages=HI, stream=True)
        pieces = [chunk.choices[0].delta.content or "" for chunk in stream]
        with client.responses.stream(model="hob", input="hi") as events:
            response = events.get_final_response()
    return whole.choices[0].message.content or "", "".join(pieces), response.output_text


@SHARED
async def test_sync_client_gets_the_same_answers(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    heard = await asyncio.to_thread(sync_calls, daemon.url)
    assert set(heard) == {"You said: hi"}
    assert asked(world) == 3


@SHARED
@pytest.mark.parametrize("stream", [False, True])
async def test_lost_answer_is_delivered_again(shared: Shared, stream: bool) -> None:
    world, daemon = shared.world, shared.daemon
    before = await titles(daemon)
    async with cutting(daemon.url) as url, client_of(url) as client:
        got: Any = await client.chat.completions.create(model="hob", messages=HI, stream=stream)
        if stream:
            text = "".join([chunk.choices[0].delta.content or "" async for chunk in got])
        else:
            text = got.choices[0].message.content
        assert text == "You said: hi"
        assert await titles(daemon) == ["hi", *before]
        assert asked(world) == 1


@SHARED
async def test_retrying_client_gets_the_first_answer(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    world.model.script.append(Reply("At last.", delay=1.5))
    before = await titles(daemon)
    async with client_of(daemon.url, timeout=0.7, max_retries=4) as client:
        answer = await client.chat.completions.create(model="hob", messages=HI)
        assert answer.choices[0].message.content == "At last."
        assert await titles(daemon) == ["hi", *before]
        assert asked(world) == 1


async def test_timeout_is_raised_without_retries(world: World) -> None:
    world.model.script.append(Reply("At last.", delay=5))
    async with world.serve() as daemon, client_of(daemon.url, timeout=0.5, max_retries=0) as client:
        with pytest.raises(openai.APITimeoutError):
            await client.chat.completions.create(model="hob", messages=HI)


@SHARED
async def test_daemon_survives_an_abandoned_stream(shared: Shared) -> None:
    world, daemon = shared.world, shared.daemon
    world.model.script.append(Reply("One two three four five six.", pause=0.2))
    async with client_of(daemon.url) as client:
        stream = await client.chat.completions.create(model="hob", messages=HI, stream=True)
        async for chunk in stream:
            if chunk.choices[0].delta.content:
                break
        await stream.close()
        answer = await client.chat.completions.create(
            model="hob", messages=[{"role": "user", "content": "still there?"}]
        )
        assert answer.choices[0].message.content == "You said: still there?"
        assert "Traceback" not in daemon.errors


@pytest.mark.parametrize("stream", [False, True])
async def test_answer_arrives_although_the_daemon_is_killed(world: World, stream: bool) -> None:
    world.model.script.append(Reply("Never heard.", delay=30))
    with held_port() as port:
        client = client_of(f"http://127.0.0.1:{port}", max_retries=10)
        async with asyncio.TaskGroup() as group, client:
            async with world.serve(HOB_GATEWAY_PORT=str(port)) as daemon:
                ask = client.chat.completions.create(model="hob", messages=HI, stream=stream)
                asking = group.create_task(_heard(ask, stream=stream))
                await until(lambda: asked(world) == 1)
                daemon.kill()
                await daemon.gone()
            async with world.serve(HOB_GATEWAY_PORT=str(port)) as daemon:
                async with asyncio.timeout(40):
                    assert await asking == "You said: hi"
                assert await titles(daemon) == ["hi"]


async def _heard(ask: Any, *, stream: bool) -> str:
    got = await ask
    if not stream:
        return str(got.choices[0].message.content)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in got])


@SHARED
async def test_turn_waiting_for_approval_is_reported_and_resumes_after_it(shared: Shared) -> None:
    daemon = shared.daemon
    messages: Any = [{"role": "user", "content": 'CALL exec {"command": "rm -rf ."}'}]
    async with client_of(daemon.url) as client:
        raw = await client.chat.completions.with_raw_response.create(
            model="hob", messages=messages, extra_headers={"Idempotency-Key": "k"}
        )
        answer: Any = raw.parse()
        assert raw.status_code == 202
        id = raw.headers["x-hob-approval"]
        assert answer.hob["state"] == "parked"
        assert answer.hob["approvals"] == [id]
        assert f"deny:{id}" in answer.choices[0].message.content
        denied = await daemon.client.post(f"/approvals/{id}", json={"allowed": False})
        assert denied.status_code == 200
        await daemon.client.get(raw.headers["location"], params={"wait": 30})
        again = await client.chat.completions.create(
            model="hob", messages=messages, extra_headers={"Idempotency-Key": "k"}
        )
        assert again.id == answer.id
        assert "The tool said" in (again.choices[0].message.content or "")


async def test_embeddings_are_returned_in_both_formats(world: World) -> None:
    async with world.serve(HOB_MODEL_EMBEDDING="fake-embed") as daemon, client_of(daemon.url) as client:
        as_numbers = await client.embeddings.create(model="hob", input=["a", "b"], encoding_format="float")
        packed = await client.embeddings.create(model="fake-embed", input=["a", "b"])
        assert [len(row.embedding) for row in packed.data] == [len(row.embedding) for row in as_numbers.data]
        await client.embeddings.create(model="server/fake-embed", input="a")
        assert packed.data[1].embedding == pytest.approx(as_numbers.data[1].embedding, abs=1e-6)
        assert packed.usage.prompt_tokens == 2
        with pytest.raises(openai.NotFoundError):
            await client.embeddings.create(model="text-embedding-nonsense", input="a")
        with pytest.raises(openai.BadRequestError) as caught:
            await client.embeddings.create(model="hob", input=["a", ""])
        assert caught.value.param == "input[1]"


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_message_beside_the_answer_is_shown_although_the_daemon_is_killed(world: World, api: str) -> None:
    sent = json.dumps({"action": "send", "text": "Tea is ready."})
    world.model.script += [
        Reply(calls=(("load_tools", '{"names": ["messages"]}'),)),
        Reply(calls=(("message", sent),)),
        *(Reply("Never heard.", delay=30), Reply("Enjoy.")),
    ]
    with held_port() as port:
        async with client_of(f"http://127.0.0.1:{port}", max_retries=10) as client, asyncio.TaskGroup() as group:

            async def ask() -> str | None:
                if api == "responses":
                    return (await client.responses.create(model="hob", input="hi")).output_text
                return (await client.chat.completions.create(model="hob", messages=HI)).choices[0].message.content

            asking = group.create_task(ask())
            async with world.serve(HOB_GATEWAY_PORT=str(port)) as daemon:
                await until(lambda: asked(world) == 3, 20)
                daemon.kill()
                await daemon.gone()
            async with world.serve(HOB_GATEWAY_PORT=str(port)), asyncio.timeout(40):
                assert await asking == "Tea is ready.\n\nEnjoy."
