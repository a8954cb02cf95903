"""What rests after which fault, for how long, and what ends it."""

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.providers.routing.failover import MAX_WAIT_SECONDS, RULES, ModelRoute, RouteHealth

HOUR = 3600.0
ONE = ModelRoute("acme/big", "acme", 0)
OTHER_KEY = ModelRoute("acme/big", "acme", 1)
OTHER_MODEL = ModelRoute("acme/small", "acme", 0)
NEITHER = ModelRoute("acme/small", "acme", 1)
ELSEWHERE = ModelRoute("zeta/big", "zeta", 0)
ALL = (ONE, OTHER_KEY, OTHER_MODEL, NEITHER, ELSEWHERE)


def health_after(*failures: tuple[ModelFault, float], wait: float | None = None) -> RouteHealth:
    health = RouteHealth()
    for fault, at in failures:
        health.note_failure(ONE, ModelError(fault, retry_after=wait), at)
    return health


@pytest.mark.parametrize(
    ("fault", "cooldowns"),
    [
        (ModelFault.RATE_LIMIT, (ONE,)),
        (ModelFault.AUTH, (ONE, OTHER_MODEL)),
        (ModelFault.BILLING, (ONE, OTHER_MODEL)),
        (ModelFault.OVERLOAD, (ONE, OTHER_KEY)),
        (ModelFault.TIMEOUT, (ONE, OTHER_KEY)),
        (ModelFault.NOT_FOUND, (ONE, OTHER_KEY)),
        (ModelFault.BAD_REQUEST, (ONE, OTHER_KEY)),
        (ModelFault.CUT, (ONE, OTHER_KEY)),
        (ModelFault.NETWORK, (ONE, OTHER_KEY, OTHER_MODEL, NEITHER)),
        (ModelFault.SETTINGS, ()),
        (ModelFault.FILTERED, ()),
        (ModelFault.CONTEXT_OVERFLOW, ()),
        (ModelFault.BUDGET, ()),
    ],
)
def test_only_the_scope_of_a_fault_rests(fault: ModelFault, cooldowns: tuple[ModelRoute, ...]) -> None:
    health = health_after((fault, 0.0))
    assert tuple(route for route in ALL if health.find_cooldown(route, 1.0)) == cooldowns


@pytest.mark.parametrize(
    ("fault", "seconds"),
    [
        (ModelFault.RATE_LIMIT, [30, 60, 300, 300]),
        (ModelFault.OVERLOAD, [30, 60, 300, 300]),
        (ModelFault.AUTH, [300, 600, 1200, 2400, 3600, 3600]),
        (ModelFault.BILLING, [5 * HOUR, 10 * HOUR, 20 * HOUR, 24 * HOUR, 24 * HOUR]),
        (ModelFault.NETWORK, [10, 20, 40, 60, 60]),
    ],
)
def test_rest_grows_each_time_in_a_row(fault: ModelFault, seconds: list[float]) -> None:
    health, now, seen = RouteHealth(), 0.0, []
    for _ in seconds:
        health.note_failure(ONE, ModelError(fault), now)
        seen.append(health.seconds_left(ONE, now))
        now += seen[-1]
    assert seen == seconds


def test_no_credit_rests_longer_than_anything_else() -> None:
    longest = max(max(rule.seconds) for fault, rule in RULES.items() if fault is not ModelFault.BILLING)
    assert min(RULES[ModelFault.BILLING].seconds) > longest


def test_failures_of_one_outage_count_once() -> None:
    health = health_after((ModelFault.OVERLOAD, 0.0), (ModelFault.OVERLOAD, 1.0), (ModelFault.OVERLOAD, 2.0))
    assert health.find_cooldown(ONE, 31.9) is not None
    assert health.find_cooldown(ONE, 32.0) is None


def test_old_fault_counts_no_more() -> None:
    health = health_after((ModelFault.OVERLOAD, 0.0), (ModelFault.OVERLOAD, 10_000.0))
    assert health.seconds_left(ONE, 10_000.0) == 30.0


def test_server_that_names_a_longer_time_is_believed_up_to_a_week() -> None:
    assert health_after((ModelFault.RATE_LIMIT, 0.0), wait=3.0).seconds_left(ONE, 0.0) == 30.0
    assert health_after((ModelFault.RATE_LIMIT, 0.0), wait=600.0).seconds_left(ONE, 0.0) == 600.0
    assert health_after((ModelFault.RATE_LIMIT, 0.0), wait=float("inf")).seconds_left(ONE, 0.0) == MAX_WAIT_SECONDS


def test_answer_clears_the_model_the_key_and_the_provider() -> None:
    health = health_after((ModelFault.NETWORK, 0.0), (ModelFault.AUTH, 0.0), (ModelFault.NOT_FOUND, 0.0))
    health.note_answer(ONE)
    assert not any(health.find_cooldown(route, 0.0) for route in ALL)


def test_answer_with_one_key_does_not_mend_the_other() -> None:
    health = health_after((ModelFault.BILLING, 0.0))
    health.note_answer(OTHER_KEY)
    assert health.find_cooldown(ONE, 1.0) is not None


def test_short_rest_does_not_hide_a_long_one() -> None:
    health = health_after((ModelFault.BILLING, 0.0), (ModelFault.RATE_LIMIT, 1.0), (ModelFault.NETWORK, 2.0))
    rest = health.find_cooldown(ONE, 3.0)
    assert rest is not None
    assert rest.fault is ModelFault.BILLING


def test_settings_that_changed_make_a_fresh_start() -> None:
    health = health_after((ModelFault.AUTH, 0.0))
    health.forget()
    assert health.find_cooldown(ONE, 1.0) is None


def test_memory_stays_bounded_whatever_models_are_asked_for() -> None:
    health = RouteHealth()
    for number in range(5000):
        health.note_failure(ModelRoute(f"acme/{number}", "acme"), ModelError(ModelFault.NOT_FOUND), float(number))
    assert len(health._cooldowns) <= 1000
    assert health.find_cooldown(ModelRoute("acme/4999", "acme"), 5000.0) is not None


def test_failure_that_names_no_time_does_not_shorten_a_rest() -> None:
    health = health_after((ModelFault.RATE_LIMIT, 0.0), wait=600.0)
    health.note_failure(ONE, ModelError(ModelFault.RATE_LIMIT), 10.0)
    assert health.seconds_left(ONE, 10.0) == 590.0
