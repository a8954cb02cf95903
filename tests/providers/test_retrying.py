"""When a model is asked again, and when not."""

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelEvent, ModelReply, ModelRequest, TextDelta, UserMessage
from hob.providers.retrying import Retrying, Tries, next_delay
from hob.testing.clock import ManualClock
from hob.testing.model import Cut, Line, ScriptedModel


def delay_after(
    fault: ModelFault,
    made: int = 1,
    *,
    spent: float = 0.0,
    shown: bool = False,
    retry_after: float | None = None,
    patience: float = 8.0,
    draw: float = 0.0,
) -> float | None:
    error = ModelError(fault, retry_after=retry_after)
    return next_delay(Tries(made, spent, shown), error, attempts=4, patience=patience, draw=draw)


@pytest.mark.parametrize(
    "fault", [ModelFault.RATE_LIMIT, ModelFault.OVERLOAD, ModelFault.NETWORK, ModelFault.GARBAGE, ModelFault.CUT]
)
def test_what_passes_is_tried_four_times_with_growing_delays(fault: ModelFault) -> None:
    assert [delay_after(fault, made) for made in (1, 2, 3, 4)] == [0.5, 1.0, 2.0, None]


@pytest.mark.parametrize(
    "fault",
    [
        ModelFault.AUTH,
        ModelFault.BILLING,
        ModelFault.BAD_REQUEST,
        ModelFault.NOT_FOUND,
        ModelFault.CONTEXT_OVERFLOW,
        ModelFault.FILTERED,
        ModelFault.TIMEOUT,
        ModelFault.NOT_CONFIGURED,
        ModelFault.SETTINGS,
        ModelFault.BUDGET,
    ],
)
def test_what_does_not_pass_is_not_tried_again(fault: ModelFault) -> None:
    assert delay_after(fault) is None


def test_an_empty_answer_is_tried_once_more() -> None:
    assert [delay_after(ModelFault.EMPTY, made) for made in (1, 2)] == [0.5, None]


def test_nothing_is_tried_again_after_output() -> None:
    assert delay_after(ModelFault.CUT, shown=True) is None


def test_the_servers_own_wait_counts_if_it_fits_the_patience() -> None:
    assert delay_after(ModelFault.RATE_LIMIT, retry_after=3.0) == 3.0
    assert delay_after(ModelFault.RATE_LIMIT, retry_after=3.0, spent=6.0) is None
    assert delay_after(ModelFault.RATE_LIMIT, retry_after=60.0) is None
    assert delay_after(ModelFault.RATE_LIMIT, retry_after=60.0, patience=300.0) == 60.0


def test_chance_shortens_a_delay_by_half_at_most() -> None:
    assert delay_after(ModelFault.OVERLOAD, draw=1.0) == 0.25


async def ask(*script: Line, patience: float = 8.0) -> tuple[list[ModelEvent], ScriptedModel, ManualClock]:
    inner = ScriptedModel(*script)
    clock = ManualClock(jump=True)
    model = Retrying(inner, clock, draw=lambda: 0.0)
    request = ModelRequest("m", "", (UserMessage("hi"),), patience=patience)
    return [event async for event in model.stream(request)], inner, clock


async def test_the_reply_tells_how_many_requests_it_took() -> None:
    busy = ModelError(ModelFault.OVERLOAD, "busy")
    events, inner, clock = await ask(busy, ModelError(ModelFault.NETWORK, "away"), "here I am")
    assert isinstance(events[-1], ModelReply)
    assert events[-1].attempts == 3
    assert clock.monotonic() == 1000.0 + 0.5 + 1.0
    assert [request.patience for request in inner.requests] == [8.0, 7.5, 6.5]


async def test_the_last_error_tells_how_many_requests_it_took() -> None:
    with pytest.raises(ModelError, match="busy") as caught:
        await ask(*(ModelError(ModelFault.OVERLOAD, "busy") for _ in range(9)))
    assert caught.value.attempts == 4


async def test_a_long_wait_is_told_not_waited() -> None:
    with pytest.raises(ModelError) as caught:
        await ask(ModelError(ModelFault.RATE_LIMIT, "later", retry_after=600.0))
    assert (caught.value.retry_after, caught.value.attempts) == (600.0, 1)


async def test_a_stream_that_breaks_after_text_is_not_begun_again() -> None:
    inner = ScriptedModel(Cut("Half an ", ModelError(ModelFault.CUT)), "whole")
    events = Retrying(inner, ManualClock()).stream(ModelRequest("m", "", ()))
    assert await anext(events) == TextDelta("Half ")
    assert await anext(events) == TextDelta("an ")
    with pytest.raises(ModelError) as caught:
        await anext(events)
    assert caught.value.fault is ModelFault.CUT
    assert len(inner.requests) == 1


async def test_closing_early_closes_the_model_behind() -> None:
    inner = ScriptedModel("some words to be read")
    events = Retrying(inner, ManualClock()).stream(ModelRequest("m", "", ()))
    await anext(events)
    assert inner.open_streams == 1
    await events.aclose()
    assert inner.open_streams == 0
