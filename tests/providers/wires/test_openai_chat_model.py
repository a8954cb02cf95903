"""Chat completions over a real connection."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import timedelta

import pytest

from hob import __version__
from hob.core.errors import ModelError, ModelFault, NotConfigured
from hob.core.models import KeepAlive, ModelEvent, ModelReply, ModelRequest, TextDelta, UserMessage
from hob.core.settings import Secret
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.opening import open_model
from hob.providers.settings import ModelSettings
from hob.providers.wires.openai_chat.wire import ChatCompletions
from hob.testing.clock import ManualClock
from hob.testing.model_server import ODDITIES, Fault, ModelServer, Reply

HI = ModelRequest("m", "Be brief.", (UserMessage("hi"),))
SILENT = {Fault.SILENCE, Fault.SILENCE_MIDDLE}


def open_http(server: Server) -> HttpModel:
    return HttpModel(ChatCompletions(), server, ManualClock())


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
async def model(server: ModelServer) -> AsyncIterator[HttpModel]:
    model = open_http(Server(server.url, read_seconds=30))
    yield model
    await model.aclose()


async def ask(model: HttpModel, request: ModelRequest = HI) -> ModelReply:
    events = [event async for event in model.stream(request)]
    assert isinstance(events[-1], ModelReply)
    return events[-1]


async def fault_of(model: HttpModel, request: ModelRequest = HI) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await ask(model, request)
    return caught.value


async def test_answer_is_streamed(model: HttpModel) -> None:
    events = [event async for event in model.stream(HI)]
    assert events[0] == KeepAlive()
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "You said: hi"
    assert isinstance(events[-1], ModelReply)


async def test_first_tokens_are_shown_before_the_rest_is_there(server: ModelServer, model: HttpModel) -> None:
    server.script.append(Reply("one two", fault=Fault.SILENCE_MIDDLE))
    async with aclosing(model.stream(HI)) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert event == TextDelta("one ")


async def test_one_connection_serves_many_requests(server: ModelServer, model: HttpModel) -> None:
    for _ in range(5):
        await ask(model)
        assert len(server.connections) == 1


@pytest.mark.parametrize("fault", sorted(ODDITIES))
async def test_oddities_change_nothing(server: ModelServer, model: HttpModel, fault: Fault) -> None:
    calls = (("read", '{"path": "a\\n\\"b\\" \\u00e9 ü"}'), ("clock", "{}"))
    server.script.append(Reply("Grüß 😀 dich", calls, "hm hm", fault=fault))
    reply = await ask(model)
    assert (reply.text, reply.reasoning) == ("Grüß 😀 dich", "hm hm")
    assert tuple((call.name, call.arguments) for call in reply.calls) == calls
    assert len({call.id for call in reply.calls}) == 2
    assert (reply.usage is None) == (fault is Fault.NO_USAGE)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault.ERROR_500, ModelFault.OVERLOAD),
        (Fault.ERROR_503, ModelFault.OVERLOAD),
        (Fault.OVERLOADED, ModelFault.OVERLOAD),
        (Fault.RATE_SHORT, ModelFault.RATE_LIMIT),
        (Fault.RATE_LONG, ModelFault.RATE_LIMIT),
        (Fault.RATE_DATE, ModelFault.RATE_LIMIT),
        (Fault.UNAUTHORIZED, ModelFault.AUTH),
        (Fault.FORBIDDEN, ModelFault.AUTH),
        (Fault.PAYMENT, ModelFault.BILLING),
        (Fault.QUOTA, ModelFault.BILLING),
        (Fault.BAD_REQUEST, ModelFault.BAD_REQUEST),
        (Fault.NOT_FOUND, ModelFault.NOT_FOUND),
        (Fault.OVERFLOW, ModelFault.CONTEXT_OVERFLOW),
        (Fault.FILTERED, ModelFault.FILTERED),
        (Fault.HTML_200, ModelFault.GARBAGE),
        (Fault.HTML_502, ModelFault.OVERLOAD),
        (Fault.GARBAGE, ModelFault.GARBAGE),
        (Fault.EMPTY_BODY, ModelFault.EMPTY),
        (Fault.EMPTY_ANSWER, ModelFault.EMPTY),
        (Fault.CUT_BEFORE, ModelFault.CUT),
        (Fault.CUT_HEADERS, ModelFault.CUT),
        (Fault.CUT_JSON, ModelFault.GARBAGE),
        (Fault.CUT_MIDDLE, ModelFault.CUT),
        (Fault.CUT_AFTER_TEXT, ModelFault.CUT),
        (Fault.ERROR_FIRST, ModelFault.OVERLOAD),
        (Fault.ERROR_EVENT, ModelFault.OVERLOAD),
    ],
)
async def test_every_failure_is_seen_and_the_next_request_works(
    server: ModelServer, model: HttpModel, fault: Fault, expected: ModelFault
) -> None:
    server.script.append(Reply("one two three", fault=fault))
    assert (await fault_of(model)).fault is expected
    assert (await ask(model)).text == "You said: hi"


def test_every_fault_of_the_server_is_covered_here() -> None:
    tested = {mark.args[1][n][0] for mark in _marks() for n in range(len(mark.args[1]))}
    assert tested | ODDITIES | SILENT == set(Fault)


def _marks() -> list[pytest.Mark]:
    function = test_every_failure_is_seen_and_the_next_request_works
    return list(function.pytestmark)  # type: ignore[attr-defined]


async def test_date_to_retry_at_is_told_in_seconds(server: ModelServer) -> None:
    clock = ManualClock()
    clock.set_wall(clock.now().replace(year=2020))  # so that the server's date lies far ahead
    model = HttpModel(ChatCompletions(), Server(server.url), clock)
    server.script.append(Reply(fault=Fault.RATE_DATE))
    error = await fault_of(model)
    assert error.retry_after is not None
    assert error.retry_after > timedelta(days=365).total_seconds()
    await model.aclose()


async def test_silence_ends_with_the_connections_own_limit(server: ModelServer) -> None:
    model = open_http(Server(server.url, read_seconds=0.05))
    server.script.extend([Reply(fault=Fault.SILENCE), Reply("one two", fault=Fault.SILENCE_MIDDLE)])
    assert (await fault_of(model)).fault is ModelFault.TIMEOUT
    assert (await fault_of(model)).fault is ModelFault.TIMEOUT
    await model.aclose()


async def test_closing_the_stream_closes_the_connection(server: ModelServer, model: HttpModel) -> None:
    server.script.append(Reply("one two", fault=Fault.SILENCE_MIDDLE))
    events = model.stream(HI)
    while not isinstance(await anext(events), TextDelta):
        pass
    await events.aclose()
    async with asyncio.timeout(5):
        while server.connections:  # noqa: ASYNC110 - the server hears of it through the kernel
            await asyncio.sleep(0)


async def test_server_that_is_not_there_is_a_network_fault() -> None:
    async with ModelServer() as server:
        url = server.url
    model = open_http(Server(url))
    error = await fault_of(model)
    assert error.fault is ModelFault.NETWORK
    assert "is it running?" in str(error)
    await model.aclose()


@pytest.mark.parametrize("base_url", ["http://[broken", "ftp://localhost/", "http://"])
async def test_address_that_is_none_is_the_operators_fault(base_url: str) -> None:
    model = open_http(Server(base_url))
    assert (await fault_of(model)).fault in (ModelFault.SETTINGS, ModelFault.NETWORK)
    await model.aclose()


async def test_key_and_our_name_are_sent(server: ModelServer) -> None:
    model = open_http(Server(server.url, Secret.of(" sk-1\n"), headers={"x-title": "Hob"}))
    await ask(model)
    headers = server.requests[-1].headers
    assert headers["authorization"] == "Bearer sk-1"
    assert headers["user-agent"] == f"hob/{__version__}"
    assert headers["x-title"] == "Hob"
    await model.aclose()


async def test_no_key_sends_no_authorization(server: ModelServer, model: HttpModel) -> None:
    await ask(model)
    assert "authorization" not in server.requests[-1].headers


async def test_wrong_key_is_read_again_at_once_and_next_time() -> None:
    keys = iter(["old-key", "old-key", "new-key"])
    async with ModelServer(key="new-key") as server:
        model = open_http(Server(server.url, Secret(lambda: next(keys))))
        error = await fault_of(model)
        assert error.fault is ModelFault.AUTH
        assert "old-key" not in str(error)
        assert (await ask(model)).text == "You said: hi"
        await model.aclose()


def _missing() -> str:
    raise NotConfigured("KEY is not set")


@pytest.mark.parametrize(
    ("secret", "fault"),
    [
        (Secret(_missing, "env:KEY"), ModelFault.SETTINGS),
        (Secret(_missing, "command:pass show key"), ModelFault.SETTINGS),
        (Secret.of("schlüssel"), ModelFault.AUTH),
        (Secret.of("two\nlines"), ModelFault.AUTH),
    ],
)
async def test_key_that_cannot_be_sent_is_said_so(server: ModelServer, secret: Secret, fault: ModelFault) -> None:
    model = open_http(Server(server.url, secret))
    assert (await fault_of(model)).fault is fault
    assert not server.requests
    await model.aclose()


# -- the configured model


async def test_nothing_configured_says_so_at_the_first_request() -> None:
    nowhere = {"OLLAMA_HOST": "http://127.0.0.1:1"}
    async with open_model(ModelSettings(), ManualClock(), environ=nowhere) as model:
        with pytest.raises(ModelError) as caught:
            _ = [event async for event in model.stream(HI)]
    assert caught.value.fault is ModelFault.NOT_CONFIGURED


async def outcome(server: ModelServer, *faults: Fault | None) -> tuple[ModelReply | ModelError, int, float]:
    """What a person gets when the server does this request after request; requests made; seconds spent."""
    server.script.extend(Reply("one two", fault=fault) for fault in faults)
    clock = ManualClock(jump=True)
    before, began = len(server.requests), clock.monotonic()
    events: list[ModelEvent] = []
    try:
        async with open_model(ModelSettings(base_url=server.url), clock) as model:
            async for event in model.stream(HI):
                events.append(event)  # noqa: PERF401
        assert isinstance(events[-1], ModelReply)
        got: ModelReply | ModelError = events[-1]
    except ModelError as error:
        got = error
    server.script.clear()
    return got, len(server.requests) - before, clock.monotonic() - began


async def test_server_that_comes_back_answers(server: ModelServer) -> None:
    reply, requests, seconds = await outcome(server, Fault.ERROR_500, Fault.CUT_HEADERS, Fault.RATE_SHORT, None)
    assert isinstance(reply, ModelReply)
    assert (reply.text, reply.attempts, requests) == ("one two", 4, 4)
    assert seconds < 8


@pytest.mark.parametrize("fault", sorted(set(Fault) - ODDITIES - SILENT))
async def test_failure_that_stays_costs_four_requests_and_eight_seconds_at_most(
    server: ModelServer, fault: Fault
) -> None:
    error, requests, seconds = await outcome(server, *[fault] * 9)
    assert isinstance(error, ModelError)
    assert error.attempts == requests <= 4
    assert seconds <= 8
