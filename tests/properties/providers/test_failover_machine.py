"""Failover over many requests, while models, keys, accounts and providers break and are mended.

The machine knows what is broken and nothing of why routes rest. Whenever something of the chain is well the request is
answered; the first route that has nothing against it is the one that answers; what was mended is asked again in time.
"""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from hob.core.errors import ModelError, ModelFault
from hob.providers.routing.failover import FINAL_FAULTS, RULES, CooldownScope, FailoverPlan, ModelRoute, RouteHealth

HOUR = 3600.0
LANES = (
    ModelRoute("acme/big", "acme", 0),
    ModelRoute("acme/big", "acme", 1),
    ModelRoute("acme/small", "acme", 0),
    ModelRoute("acme/small", "acme", 1),
    ModelRoute("beta/big", "beta", 0),
    ModelRoute("home/tiny", "home", 0),
)
FAULTS = sorted(set(ModelFault) - FINAL_FAULTS)


class FailoverMachine(RuleBasedStateMachine):
    """Rules break, mend, ask and let time pass."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.health = RouteHealth()
        self.broken: dict[ModelRoute, ModelFault] = {}

    @rule(route=st.sampled_from(LANES), fault=st.sampled_from(FAULTS))
    def break_what_the_fault_is_about(self, route: ModelRoute, fault: ModelFault) -> None:
        scope = RULES[fault].scope if fault in RULES else CooldownScope.MODEL
        for other in LANES:
            same = {
                CooldownScope.LANE: other == route,
                CooldownScope.KEY: (other.provider, other.key) == (route.provider, route.key),
                CooldownScope.MODEL: other.ref == route.ref,
                CooldownScope.PROVIDER: other.provider == route.provider,
            }
            if same[scope]:
                self.broken[other] = fault

    @rule(route=st.sampled_from(LANES))
    def mend(self, route: ModelRoute) -> None:
        for other in LANES:  # with all its keys: what a model is to blame for is no key's doing
            if other.ref == route.ref:
                self.broken.pop(other, None)

    @rule()
    def mend_everything(self) -> None:
        self.broken.clear()

    @rule(seconds=st.sampled_from([1.0, 29.0, 61.0, 301.0, HOUR + 1, 5 * HOUR + 1]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(patience=st.sampled_from([0.0, 8.0, 60.0]), draw=st.floats(0, 1), wait=st.none() | st.floats(0, 100))
    def ask(self, patience: float, draw: float, wait: float | None) -> None:
        awake = [route for route in LANES if self.health.find_cooldown(route, self.now) is None]
        walk = FailoverPlan(LANES, self.health, self.now, patience=patience)
        asked: list[ModelRoute] = []
        answered: ModelRoute | None = None
        ask = walk.first(self.now)
        assert ask is not None
        while ask is not None:
            self.now += ask.wait
            asked.append(ask.route)
            if ask.route not in self.broken:
                walk.answered(ask.route)
                answered = ask.route
                break
            self.now += 0.1
            error = ModelError(self.broken[ask.route], "as broken", retry_after=wait)
            ask = walk.failed(ask.route, error, self.now, draw=draw)

        well = [route for route in LANES if route not in self.broken]
        assert len(asked) <= len(LANES) + 3
        assert (answered is not None) == bool(well)
        if awake:
            assert asked[0] == awake[0], "the first lane that does not rest keeps its prompt cache"
        assert asked[-1] == answered or answered is None
        if answered is None:
            assert {route.ref for route in asked} == {route.ref for route in LANES}
            error = walk.verdict(self.now)
            assert error.attempts == len(asked)
            assert all(route.ref in str(error) for route in LANES)
        else:
            assert self.health.find_cooldown(answered, self.now) is None

    @rule()
    def a_day_without_trouble_makes_the_first_lane_answer_again(self) -> None:
        self.broken.clear()
        self.now += 24 * HOUR + 1
        walk = FailoverPlan(LANES, self.health, self.now, patience=0.0)
        ask = walk.first(self.now)
        assert ask is not None
        assert ask.route == LANES[0]
        walk.answered(ask.route)

    @rule()
    def no_credit_outlasts_all_other_trouble(self) -> None:
        route = LANES[0]
        self.health.note_failure(route, ModelError(ModelFault.BILLING), self.now)
        self.health.note_failure(route, ModelError(ModelFault.OVERLOAD), self.now)
        assert self.health.seconds_left(route, self.now) >= 5 * HOUR - 1
        assert self.health.find_cooldown(route, self.now + 5 * HOUR - 2) is not None

    @invariant()
    def nothing_rests_for_longer_than_a_day(self) -> None:
        assert all(self.health.seconds_left(route, self.now) <= 24 * HOUR + 1 for route in LANES)


FailoverMachine.TestCase.settings = settings(stateful_step_count=40)
TestFailover = FailoverMachine.TestCase
