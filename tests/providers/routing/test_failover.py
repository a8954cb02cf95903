"""Who is asked next after which fault, and what is said when nobody answered."""

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.translation.sentences import FALLBACK_SENTENCES
from hob.providers.routing.failover import _WHY, FINAL_FAULTS, FailoverPlan, ModelAttempt, ModelRoute, RouteHealth

BIG, BIG_2 = ModelRoute("acme/big", "acme", 0), ModelRoute("acme/big", "acme", 1)
SMALL, SMALL_2 = ModelRoute("acme/small", "acme", 0), ModelRoute("acme/small", "acme", 1)
LOCAL = ModelRoute("home/tiny", "home", 0)
CHAIN = (BIG, BIG_2, SMALL, SMALL_2, LOCAL)
PASSING = (ModelFault.OVERLOAD, ModelFault.NETWORK, ModelFault.GARBAGE, ModelFault.CUT)


def fail(
    walk: FailoverPlan,
    route: ModelRoute,
    fault: ModelFault,
    *,
    wait: float | None = None,
    now: float = 0.0,
    shown: bool = False,
) -> ModelAttempt | None:
    return walk.failed(route, ModelError(fault, f"{fault} said", retry_after=wait), now, draw=0.0, shown=shown)


def walk_of(
    *chain: ModelRoute, patience: float = 8.0, max_attempts: int = 4, health: RouteHealth | None = None
) -> FailoverPlan:
    return FailoverPlan(chain, health or RouteHealth(), 0.0, patience=patience, max_attempts=max_attempts)


def order(fault: ModelFault, chain: tuple[ModelRoute, ...] = CHAIN, patience: float = 0.0) -> list[ModelRoute]:
    walk = walk_of(*chain, patience=patience)
    asked = []
    ask = walk.first(0.0)
    while ask is not None:
        asked.append(ask.route)
        ask = fail(walk, ask.route, fault)
    return asked


def test_refused_key_is_followed_by_the_next_key_then_by_the_next_model_with_a_key_not_refused() -> None:
    assert order(ModelFault.AUTH) == [BIG, BIG_2, LOCAL, SMALL, SMALL_2]


def test_rate_limit_is_followed_by_the_next_key_then_by_the_next_model() -> None:
    assert order(ModelFault.RATE_LIMIT) == [BIG, BIG_2, SMALL, SMALL_2, LOCAL]


@pytest.mark.parametrize(
    "fault", [ModelFault.OVERLOAD, ModelFault.TIMEOUT, ModelFault.NOT_FOUND, ModelFault.BAD_REQUEST]
)
def test_models_fault_is_followed_by_another_model_and_its_other_keys_are_not_tried(fault: ModelFault) -> None:
    assert order(fault) == [BIG, SMALL, LOCAL]


def test_network_failure_is_followed_by_another_provider() -> None:
    assert order(ModelFault.NETWORK) == [BIG, LOCAL, SMALL]


def test_repeats_after_an_overload_go_to_models_not_to_their_other_keys() -> None:
    assert order(ModelFault.OVERLOAD, (BIG, BIG_2, LOCAL), patience=60.0) == [BIG, BIG, LOCAL, LOCAL, BIG]


def test_silent_model_is_not_left_for_another_key_of_its_own() -> None:
    walk = walk_of(BIG, BIG_2)
    walk.first(0.0)
    assert not walk.others_left


@pytest.mark.parametrize("fault", sorted(set(ModelFault) - FINAL_FAULTS))
def test_every_model_is_asked_whatever_the_fault(fault: ModelFault) -> None:
    assert {route.ref for route in order(fault)} == {route.ref for route in CHAIN}


@pytest.mark.parametrize("fault", sorted(FINAL_FAULTS))
def test_error_that_no_other_model_avoids_is_raised_at_once(fault: ModelFault) -> None:
    walk = walk_of(*CHAIN)
    walk.first(0.0)
    assert fail(walk, BIG, fault) is None
    assert (walk.verdict(0.0).fault, str(walk.verdict(0.0)), walk.verdict(0.0).attempts) == (
        fault,
        f"acme/big: {fault} said",
        1,
    )


def test_no_model_is_asked_after_output() -> None:
    walk = walk_of(*CHAIN)
    walk.first(0.0)
    assert fail(walk, BIG, ModelFault.CUT, shown=True) is None
    assert str(walk.verdict(0.0)) == "acme/big: cut_stream said"


@pytest.mark.parametrize("fault", PASSING)
def test_one_lane_is_asked_four_times_with_growing_waits(fault: ModelFault) -> None:
    walk = walk_of(BIG)
    assert walk.first(0.0) == ModelAttempt(BIG)
    assert [fail(walk, BIG, fault) for _ in range(4)] == [
        ModelAttempt(BIG, 0.5),
        ModelAttempt(BIG, 1.0),
        ModelAttempt(BIG, 2.0),
        None,
    ]


@pytest.mark.parametrize(
    "fault", sorted(set(ModelFault) - set(PASSING) - {ModelFault.RATE_LIMIT, ModelFault.EMPTY} - FINAL_FAULTS)
)
def test_permanent_failure_is_not_retried(fault: ModelFault) -> None:
    assert order(fault, (BIG,), patience=60.0) == [BIG]


def test_empty_answer_is_repeated_once_in_all() -> None:
    assert order(ModelFault.EMPTY, (BIG,), patience=60.0) == [BIG, BIG]
    assert order(ModelFault.EMPTY, (BIG, LOCAL), patience=60.0) == [BIG, BIG, LOCAL]


def test_first_lane_alone_is_repeated_while_others_are_left_then_all_take_turns() -> None:
    assert order(ModelFault.OVERLOAD, (BIG, SMALL, LOCAL), 60.0) == [BIG, BIG, SMALL, LOCAL, SMALL, LOCAL]


def test_rate_limit_is_not_repeated_while_others_are_left() -> None:
    assert order(ModelFault.RATE_LIMIT, (BIG, LOCAL), patience=60.0) == [BIG, LOCAL, BIG, LOCAL, BIG]


def test_no_wait_is_spent_on_a_server_that_wants_one_while_others_are_left() -> None:
    walk = walk_of(BIG, LOCAL)
    walk.first(0.0)
    assert fail(walk, BIG, ModelFault.OVERLOAD, wait=3.0) == ModelAttempt(LOCAL)


def test_repeats_go_to_the_lane_that_may_answer_first() -> None:
    walk = walk_of(BIG, LOCAL)
    walk.first(0.0)
    fail(walk, BIG, ModelFault.RATE_LIMIT, wait=5.0)
    assert fail(walk, LOCAL, ModelFault.RATE_LIMIT, wait=2.0, now=1.0) == ModelAttempt(LOCAL, 2.0)
    assert fail(walk, LOCAL, ModelFault.RATE_LIMIT, wait=6.0, now=3.0) == ModelAttempt(BIG, 2.0)


def test_wait_that_ends_after_the_patience_is_told_not_waited() -> None:
    walk = walk_of(BIG, patience=8.0)
    walk.first(0.0)
    assert fail(walk, BIG, ModelFault.RATE_LIMIT, wait=8.0, now=0.0) is None
    assert walk.verdict(0.0).retry_after == 8.0


def test_lane_that_was_not_asked_is_asked_however_long_the_others_took() -> None:
    walk = walk_of(BIG, LOCAL, patience=8.0)
    walk.first(0.0)
    again = fail(walk, BIG, ModelFault.NETWORK, now=100.0)
    assert again == ModelAttempt(LOCAL)
    assert walk.patience_of(again, 100.0) == 5.0


def test_chance_shortens_a_wait_by_half_at_most() -> None:
    walk = walk_of(BIG)
    walk.first(0.0)
    assert walk.failed(BIG, ModelError(ModelFault.CUT), 0.0, draw=1.0) == ModelAttempt(BIG, 0.25)


def test_attempts_that_are_fewer_mean_fewer_repeats_never_fewer_lanes() -> None:
    walk = walk_of(BIG, LOCAL, max_attempts=1)
    walk.first(0.0)
    assert fail(walk, BIG, ModelFault.OVERLOAD) == ModelAttempt(LOCAL)
    assert fail(walk, LOCAL, ModelFault.OVERLOAD) is None


def test_resting_routes_are_asked_last_and_the_first_to_wake_before_the_others() -> None:
    health = RouteHealth()
    health.note_failure(BIG, ModelError(ModelFault.BILLING), 0.0)
    health.note_failure(SMALL_2, ModelError(ModelFault.RATE_LIMIT), 0.0)
    walk = walk_of(BIG, SMALL_2, LOCAL, health=health)
    asks = [walk.first(0.0), fail(walk, LOCAL, ModelFault.AUTH), fail(walk, SMALL_2, ModelFault.AUTH)]
    assert asks == [ModelAttempt(LOCAL), ModelAttempt(SMALL_2), ModelAttempt(BIG)]


def test_error_of_one_model_names_it() -> None:
    walk = walk_of(BIG)
    walk.first(0.0)
    error = ModelError(ModelFault.AUTH, "acme does not accept the key")
    walk.failed(BIG, error, 0.0, draw=0.0)
    assert str(walk.verdict(0.0)) == "acme/big: acme does not accept the key"


def test_error_of_several_models_is_the_firsts_and_names_all() -> None:
    walk = walk_of(BIG, SMALL_2, LOCAL, patience=0.0)
    walk.first(0.0)
    fail(walk, BIG, ModelFault.CUT)
    fail(walk, SMALL_2, ModelFault.RATE_LIMIT)
    fail(walk, LOCAL, ModelFault.NETWORK)
    error = walk.verdict(0.0)
    assert (error.fault, error.attempts) == (ModelFault.CUT, 3)
    assert str(error) == "acme/big: cut_stream said; acme/small: rate limit; home/tiny: cannot be reached"


def test_waiting_is_told_where_the_owner_must_mend_the_first_but_another_is_only_busy() -> None:
    walk = walk_of(BIG, LOCAL, patience=0.0)
    walk.first(0.0)
    fail(walk, BIG, ModelFault.AUTH)
    fail(walk, LOCAL, ModelFault.RATE_LIMIT, wait=90.0)
    error = walk.verdict(10.0)
    assert (error.fault, error.retry_after) == (ModelFault.RATE_LIMIT, 80.0)
    assert str(error) == "acme/big: access refused; home/tiny: rate_limit said"


def test_one_busy_key_stands_for_its_model() -> None:
    walk = walk_of(BIG, BIG_2, patience=0.0)
    walk.first(0.0)
    fail(walk, BIG, ModelFault.AUTH)
    fail(walk, BIG_2, ModelFault.RATE_LIMIT, wait=90.0)
    assert str(walk.verdict(0.0)) == "acme/big: rate_limit said"


def test_wait_is_told_only_if_every_busy_server_names_one() -> None:
    walk = walk_of(BIG, LOCAL, patience=0.0)
    walk.first(0.0)
    fail(walk, BIG, ModelFault.RATE_LIMIT, wait=600.0)
    fail(walk, LOCAL, ModelFault.OVERLOAD)
    assert walk.verdict(0.0).retry_after is None


def test_no_credit_until_a_named_time_is_a_rate_limit() -> None:
    health = RouteHealth()
    walk = walk_of(BIG, health=health)
    walk.first(0.0)
    assert fail(walk, BIG, ModelFault.BILLING, wait=900.0) is None
    error = walk.verdict(0.0)
    assert (error.fault, error.retry_after, error.attempts) == (ModelFault.RATE_LIMIT, 900.0, 1)
    assert health.find_cooldown(BIG, 901.0) is None


@pytest.mark.parametrize("wait", [float("nan"), -5.0])
def test_invalid_wait_is_ignored(wait: float) -> None:
    walk = walk_of(BIG)
    walk.first(0.0)
    assert fail(walk, BIG, ModelFault.OVERLOAD, wait=wait) == ModelAttempt(BIG, 0.5)


def test_reference_that_cannot_be_asked_counts_as_failed_and_takes_no_request() -> None:
    nowhere = ModelRoute("typo/model", "")
    unknown = ModelError(ModelFault.SETTINGS, "there is no provider typo")
    walk = FailoverPlan((nowhere, LOCAL), RouteHealth(), 0.0, patience=0.0, failed={nowhere: unknown})
    assert walk.first(0.0) == ModelAttempt(LOCAL)
    assert walk.passed_over(LOCAL) == ("typo/model", ModelFault.SETTINGS)
    fail(walk, LOCAL, ModelFault.AUTH)
    error = walk.verdict(0.0)
    assert (error.fault, error.attempts) == (ModelFault.SETTINGS, 1)
    assert str(error) == "typo/model: there is no provider typo; home/tiny: access refused"


def test_error_without_any_lane_says_that_no_model_is_connected() -> None:
    walk = walk_of()
    assert walk.first(0.0) is None
    assert walk.verdict(0.0).fault is ModelFault.NOT_CONFIGURED


def test_lane_that_is_named_twice_is_asked_once() -> None:
    assert order(ModelFault.AUTH, (BIG, LOCAL, BIG)) == [BIG, LOCAL]


def test_another_key_of_the_same_model_is_no_other_model() -> None:
    walk = walk_of(BIG, BIG_2)
    walk.first(0.0)
    fail(walk, BIG, ModelFault.AUTH)
    assert walk.passed_over(BIG_2) is None


def test_reason_a_resting_model_was_passed_over_is_known_after_its_rest_has_ended() -> None:
    health = RouteHealth()
    health.note_failure(BIG, ModelError(ModelFault.OVERLOAD), 0.0)
    walk = FailoverPlan((BIG, LOCAL), health, 29.0, patience=8.0)
    assert walk.first(29.0) == ModelAttempt(LOCAL)
    health.note_answer(BIG)
    assert walk.passed_over(LOCAL) == ("acme/big", ModelFault.OVERLOAD)


def test_every_fault_with_a_fallback_has_a_sentence() -> None:
    assert set(_WHY) == set(FALLBACK_SENTENCES) == set(ModelFault) - FINAL_FAULTS
