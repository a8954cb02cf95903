"""Every failure of a server on the wires of OpenAI Responses and Ollama is seen for what it is."""

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelEvent, ModelReply, ModelRequest, TextDelta, Thinking, UserMessage
from hob.core.settings import Secret
from hob.providers.http.server import Server
from hob.providers.http.transport import HttpModel
from hob.providers.http.wire import Wire
from hob.providers.wires.ollama.wire import OllamaChat
from hob.providers.wires.openai_responses.wire import Responses
from hob.testing.clock import ManualClock
from hob.testing.model_server import ODDITIES, Fault, ModelServer, Reply

on_both = pytest.mark.parametrize("wire", [Responses(), OllamaChat()], ids=lambda wire: wire.name)
HI = ModelRequest("m", "Be brief.", (UserMessage("hi"),), thinking=Thinking.LOW)
FAULTS = {
    Fault.ERROR_500: ModelFault.OVERLOAD,
    Fault.ERROR_503: ModelFault.OVERLOAD,
    Fault.OVERLOADED: ModelFault.OVERLOAD,
    Fault.RATE_SHORT: ModelFault.RATE_LIMIT,
    Fault.RATE_LONG: ModelFault.RATE_LIMIT,
    Fault.RATE_DATE: ModelFault.RATE_LIMIT,
    Fault.UNAUTHORIZED: ModelFault.AUTH,
    Fault.FORBIDDEN: ModelFault.AUTH,
    Fault.PAYMENT: ModelFault.BILLING,
    Fault.QUOTA: ModelFault.BILLING,
    Fault.BAD_REQUEST: ModelFault.BAD_REQUEST,
    Fault.NOT_FOUND: ModelFault.NOT_FOUND,
    Fault.OVERFLOW: ModelFault.CONTEXT_OVERFLOW,
    Fault.HTML_200: ModelFault.GARBAGE,
    Fault.HTML_502: ModelFault.OVERLOAD,
    Fault.GARBAGE: ModelFault.GARBAGE,
    Fault.EMPTY_BODY: ModelFault.EMPTY,
    Fault.EMPTY_ANSWER: ModelFault.EMPTY,
    Fault.CUT_BEFORE: ModelFault.CUT,
    Fault.CUT_HEADERS: ModelFault.CUT,
    Fault.CUT_JSON: ModelFault.GARBAGE,
    Fault.CUT_MIDDLE: ModelFault.CUT,
    Fault.CUT_AFTER_TEXT: ModelFault.CUT,
    Fault.ERROR_FIRST: ModelFault.OVERLOAD,
    Fault.ERROR_EVENT: ModelFault.OVERLOAD,
}


@asynccontextmanager
async def asked(wire: Wire, *script: Reply) -> AsyncIterator[HttpModel]:
    async with ModelServer(*script) as server, opened(wire, server) as model:
        yield model


def opened(wire: Wire, server: ModelServer, key: str = "") -> aclosing[HttpModel]:
    return aclosing(HttpModel(wire, Server(server.root, Secret.of(key) if key else None), ManualClock()))


async def ask(model: HttpModel) -> ModelReply:
    events = [event async for event in model.stream(HI)]
    assert isinstance(events[-1], ModelReply)
    return events[-1]


@on_both
@pytest.mark.parametrize(("fault", "expected"), FAULTS.items())
async def test_failure_is_seen_for_what_it_is(wire: Wire, fault: Fault, expected: ModelFault) -> None:
    async with asked(wire, Reply("one two three four", fault=fault)) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model)
        assert caught.value.fault is expected
        assert str(caught.value)
        assert (await ask(model)).text == "You said: hi"


def test_no_failure_is_forgotten() -> None:
    silent = {Fault.SILENCE, Fault.SILENCE_MIDDLE}
    assert set(FAULTS) | ODDITIES | silent | {Fault.FILTERED} == set(Fault)


@on_both
@pytest.mark.parametrize("fault", sorted(ODDITIES))
async def test_oddities_change_nothing(wire: Wire, fault: Fault) -> None:
    calls = (("read", '{"path": "a\\n\\"b\\" ü"}'), ("clock", "{}"))
    async with asked(wire, Reply("Grüß 😀 dich", calls, "hm hm", fault=fault)) as model:
        reply = await ask(model)
    assert (reply.text, reply.reasoning) == ("Grüß 😀 dich", "hm hm")
    assert tuple((call.name, call.arguments) for call in reply.calls) == calls
    assert len({call.id for call in reply.calls}) == 2
    assert (reply.usage is None) == (fault is Fault.NO_USAGE)


@on_both
async def test_refusal_tells_when_to_come_back(wire: Wire) -> None:
    async with asked(wire, Reply(fault=Fault.RATE_SHORT, retry_after=7.0)) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model)
    assert caught.value.retry_after == 7.0


@on_both
async def test_text_before_a_failure_was_shown(wire: Wire) -> None:
    events: list[ModelEvent] = []

    async def read(model: HttpModel) -> None:
        async for event in model.stream(HI):
            events.append(event)  # noqa: PERF401 - what came before the error counts

    async with asked(wire, Reply("one two three four", fault=Fault.CUT_AFTER_TEXT)) as model:
        with pytest.raises(ModelError):
            await read(model)
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "one two three four"


@on_both
async def test_key_is_sent_and_never_shown(wire: Wire) -> None:
    async with ModelServer(key="sk-right-000000") as server:
        async with opened(wire, server, "sk-wrong-000000") as model:
            with pytest.raises(ModelError) as caught:
                await ask(model)
        async with opened(wire, server, "sk-right-000000") as model:
            assert (await ask(model)).text == "You said: hi"
    assert caught.value.fault is ModelFault.AUTH
    assert "sk-wrong" not in str(caught.value)


async def test_answer_that_was_withheld_is_none() -> None:
    async with asked(Responses(), Reply("one", fault=Fault.FILTERED)) as model:
        with pytest.raises(ModelError) as caught:
            await ask(model)
    assert caught.value.fault is ModelFault.FILTERED
