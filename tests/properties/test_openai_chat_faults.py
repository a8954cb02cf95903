"""Whatever a server does, one request of ours costs at most four of its own and ends well or as one honest error."""

from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelEvent, ModelReply, ModelRequest, UserMessage
from hob.providers.retrying import Retrying
from hob.testing.clock import ManualClock
from hob.testing.model import Cut, Line, ScriptedModel

ERRORS = st.builds(
    lambda fault, wait: ModelError(fault, "as drawn", retry_after=wait),
    st.sampled_from(sorted(ModelFault)),
    st.none() | st.floats(min_value=0, max_value=100, allow_nan=False),
)
LINES: st.SearchStrategy[Line] = st.one_of(ERRORS, st.builds(Cut, st.just("Half "), ERRORS), st.just("whole"))


@given(st.lists(LINES, min_size=5, max_size=8), st.sampled_from([0.0, 8.0, 60.0]), st.floats(0, 1))
async def test_at_most_four_requests_and_one_outcome_within_the_patience(
    script: list[Line], patience: float, draw: float
) -> None:
    inner, clock = ScriptedModel(*script), ManualClock(jump=True)
    request = ModelRequest("m", "", (UserMessage("hi"),), patience=patience)
    shown: list[ModelEvent] = []
    failure: ModelError | None = None
    try:
        async for event in Retrying(inner, clock, draw=lambda: draw).stream(request):
            shown.append(event)  # noqa: PERF401
    except ModelError as error:
        failure = error
    replies = [event for event in shown if isinstance(event, ModelReply)]
    assert len(replies) == (failure is None)
    attempts = failure.attempts if failure else replies[0].attempts
    last = script[attempts - 1]
    assert failure is (last.error if isinstance(last, Cut) else last if isinstance(last, ModelError) else None)
    assert len(inner.requests) == attempts <= 4
    assert clock.monotonic() - 1000.0 <= patience
    assert inner.open_streams == 0
    assert all(isinstance(line, ModelError) for line in script[: attempts - 1]), "asked again after output"
