"""Whatever the models of a chain do, one request ends in an answer of one of them or as one honest error."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from hob.core.errors import ModelError, ModelFault
from hob.core.models import ExtraCall, KeepAlive, ModelEvent, ModelReply, ModelRequest, Remark, TextDelta, UserMessage
from hob.providers.routing.failover import (
    FINAL_FAULTS,
    MAX_WAIT_SECONDS,
    RULES,
    CooldownScope,
    FailoverPlan,
    ModelAttempt,
    ModelRoute,
    RouteHealth,
)
from hob.providers.routing.failover_model import Failover
from hob.testing.clock import ManualClock
from hob.testing.model import Cut, Line, ScriptedModel, Silence

LANES = tuple(
    ModelRoute(f"{provider}/{model}", provider, key)
    for provider in ("acme", "beta", "core")
    for model in ("big", "small")
    for key in (0, 1)
)
WAITS = st.none() | st.floats(min_value=0, max_value=100)
WHATEVER_THE_KEY = {
    fault for fault, rule in RULES.items() if rule.scope in (CooldownScope.MODEL, CooldownScope.PROVIDER)
}
STEPS = st.floats(min_value=0, max_value=1)


@dataclass(frozen=True)
class Fails:
    """A request fails so, after so many seconds."""

    fault: ModelFault
    wait: float | None = None
    took: float = 0.0
    shown: bool = False


@dataclass
class Walked:
    """What one walk did: who was asked when, what came of it."""

    asks: list[tuple[ModelAttempt, float]] = field(default_factory=list)
    failures: list[Fails] = field(default_factory=list)
    answered: ModelRoute | None = None
    error: ModelError | None = None


FAILS = st.builds(
    Fails,
    st.sampled_from(sorted(ModelFault)),
    WAITS,
    st.sampled_from([0.0, 0.1, 3.0, 30.0]),
    st.integers(0, 9).map(lambda dice: dice == 0),
)
SCRIPTS = st.dictionaries(st.sampled_from(LANES), st.lists(FAILS, max_size=6), min_size=1)
CHAINS = st.lists(st.sampled_from(LANES), min_size=1, max_size=6, unique=True)


def walk_through(
    chain: list[ModelRoute],
    scripts: Mapping[ModelRoute, list[Fails]],
    health: RouteHealth,
    *,
    began: float,
    patience: float,
    attempts: int,
    draw: float,
    endless: bool = False,
) -> Walked:
    """Walk; a route whose script is used up answers, or goes on failing as it last did."""
    walked, now = Walked(), began
    left = {route: list(scripts.get(route, ())) for route in chain}
    walk = FailoverPlan(chain, health, began, patience=patience, max_attempts=attempts)
    ask = walk.first(now)
    while ask is not None:
        now += ask.wait
        walked.asks.append((ask, now))
        script = left[ask.route]
        if not script:
            walk.answered(ask.route)
            walked.answered = ask.route
            return walked
        failure = script[0] if endless and len(script) == 1 else script.pop(0)
        walked.failures.append(failure)
        now += failure.took
        error = ModelError(failure.fault, "as drawn", retry_after=failure.wait)
        ask = walk.failed(ask.route, error, now, draw=draw, shown=failure.shown)
    walked.error = walk.verdict(now)
    return walked


def ends(failure: Fails) -> bool:
    return failure.shown or failure.fault in FINAL_FAULTS


@given(CHAINS, SCRIPTS, st.sampled_from([0.0, 8.0, 60.0]), st.integers(1, 4), STEPS, st.booleans())
def test_one_request_keeps_all_promises(
    chain: list[ModelRoute],
    scripts: dict[ModelRoute, list[Fails]],
    patience: float,
    attempts: int,
    draw: float,
    endless: bool,
) -> None:
    walked = walk_through(
        chain, scripts, RouteHealth(), began=50.0, patience=patience, attempts=attempts, draw=draw, endless=endless
    )
    routes = [ask.route for ask, _ in walked.asks]
    firsts = [ask for place, (ask, _) in enumerate(walked.asks) if ask.route not in routes[:place]]
    repeats = [asked for place, asked in enumerate(walked.asks) if asked[0].route in routes[:place]]

    assert (walked.answered is None) != (walked.error is None)
    assert len(walked.asks) <= len(chain) + attempts - 1
    assert not any(ends(failure) for failure in walked.failures[:-1]), "went on after output, or where nobody may help"
    assert all(ask.wait == 0 for ask in firsts), "waited although somebody was not asked yet"
    assert all(began < 50.0 + patience for _, began in repeats), "a repeat began after the patience"
    assert len(repeats) <= attempts - 1
    if walked.error is not None:
        assert walked.error.attempts == len(walked.asks)
        if not ends(walked.failures[-1]):
            for route in set(chain) - set(routes):
                own = [
                    failure.fault
                    for (ask, _), failure in zip(walked.asks, walked.failures, strict=True)
                    if ask.route.ref == route.ref
                ]
                assert WHATEVER_THE_KEY.intersection(own), "somebody was not asked"
            refs = {route.ref for route in chain}
            assert len(refs) == 1 or all(ref in str(walked.error) for ref in refs)


@given(CHAINS, SCRIPTS, st.data(), STEPS)
def test_model_that_is_well_answers_wherever_it_stands(
    chain: list[ModelRoute], scripts: dict[ModelRoute, list[Fails]], data: st.DataObject, draw: float
) -> None:
    well = data.draw(st.sampled_from(chain))
    passing = {
        route: [
            fails
            for fails in script
            if not ends(fails) and not (route.ref == well.ref and fails.fault in WHATEVER_THE_KEY)
        ]
        for route, script in scripts.items()
    }
    health = RouteHealth()
    for route in data.draw(st.lists(st.sampled_from(LANES), max_size=8)):  # a history of other requests
        health.note_failure(route, ModelError(data.draw(st.sampled_from(sorted(ModelFault)))), 49.0)
    walked = walk_through(chain, passing | {well: []}, health, began=50.0, patience=0.0, attempts=1, draw=draw)
    assert walked.error is None
    assert walked.answered is not None


@given(CHAINS, SCRIPTS, st.sampled_from([8.0, 60.0]), STEPS)
def test_server_is_not_asked_again_before_the_time_it_named(
    chain: list[ModelRoute], scripts: dict[ModelRoute, list[Fails]], patience: float, draw: float
) -> None:
    walked = walk_through(
        chain, scripts, RouteHealth(), began=0.0, patience=patience, attempts=4, draw=draw, endless=True
    )
    not_before: dict[ModelRoute, float] = {}
    empty = 0
    for (ask, at), failure in zip(walked.asks, walked.failures, strict=False):
        assert at >= not_before.get(ask.route, 0.0)
        not_before[ask.route] = at + failure.took + (failure.wait or 0.0) - 1e-9
    previous: dict[ModelRoute, Fails] = {}
    for (ask, _), failure in zip(walked.asks, walked.failures, strict=False):
        empty += ask.route in previous and previous[ask.route].fault is ModelFault.EMPTY
        previous[ask.route] = failure
    assert empty <= 1, "an empty answer was paid for more than twice"


@given(st.lists(st.tuples(st.sampled_from(LANES), FAILS, st.floats(0, 10_000)), min_size=1, max_size=30))
def test_every_route_is_awake_again_in_time(history: list[tuple[ModelRoute, Fails, float]]) -> None:
    health, now = RouteHealth(), 0.0
    for route, failure, later in history:
        now += later
        health.note_failure(route, ModelError(failure.fault, retry_after=failure.wait), now)
        rest = health.find_cooldown(route, now)
        assert rest is not None or failure.fault not in RULES
        assert rest is None or rest.until - now <= MAX_WAIT_SECONDS
    longest = max(max(rule.seconds) for rule in RULES.values())
    assert all(health.find_cooldown(route, now + longest) is None for route in LANES)


ERRORS = st.builds(
    lambda fault, wait: ModelError(fault, "as drawn", retry_after=wait), st.sampled_from(sorted(ModelFault)), WAITS
)
LINES: st.SearchStrategy[Line] = st.one_of(
    ERRORS, st.builds(Cut, st.just("Half "), ERRORS), st.just("whole"), st.just(ModelReply("at once"))
)


@given(
    st.lists(st.lists(LINES, min_size=5, max_size=5), min_size=1, max_size=4),
    st.sets(st.integers(0, 2)),
    st.sampled_from([0.0, 8.0, 60.0]),
    st.floats(0, 1),
)
async def test_driver_shows_one_model_answering_and_says_who(
    scripts: list[list[Line]], silent: set[int], patience: float, draw: float
) -> None:
    refs = tuple(f"p{number}/m" for number in range(len(scripts)))
    models = {ref: ScriptedModel(*script) for ref, script in zip(refs, scripts, strict=True)}
    for number in silent.intersection(range(len(refs) - 1)):  # the silence of the last is the agent's to notice
        models[refs[number]].script.insert(0, Silence())
    clock = ManualClock(jump=True)
    failover = Failover(lambda ref: (ModelRoute(ref, ref),), lambda route: models[route.ref], clock, draw=lambda: draw)
    request = ModelRequest("", "", (UserMessage("hi"),), patience=patience, models=refs)
    seen: list[ModelEvent] = []
    failure: ModelError | None = None
    try:
        async for event in failover.stream(request):
            seen.append(event)  # noqa: PERF401 - what came before the error counts
    except ModelError as error:
        failure = error
    made = sum(len(model.requests) for model in models.values())
    replies = [event for event in seen if isinstance(event, ModelReply)]
    remarks = [event for event in seen if isinstance(event, Remark)]
    extra = [event for event in seen if isinstance(event, ExtraCall)]
    output = [event for event in seen if not isinstance(event, KeepAlive | Remark | ExtraCall)]

    assert len(replies) == (failure is None)
    assert made == (failure.attempts if failure else replies[0].attempts) <= len(refs) + 3
    assert all(model.open_streams == 0 for model in models.values())
    assert clock.sleepers() == 0
    if replies:
        assert seen[-1] is replies[0]
        assert "".join(event.text for event in output if isinstance(event, TextDelta)) == replies[0].text
        assert len(remarks) == (replies[0].ref != refs[0])
    if remarks:
        assert len(remarks) == 1
        assert seen.index(remarks[0]) < seen.index(output[0])
    assert len(extra) <= made - len(replies)
    assert [event.has_next for event in extra[:-1]] == [True] * len(extra[:-1])
    assert all(0 <= asked.patience <= patience for model in models.values() for asked in model.requests)
