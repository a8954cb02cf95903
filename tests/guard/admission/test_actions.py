"""Rate limits on actions for one sender."""

from hob.guard.admission.actions import ActionRates, RateLimited, SlidingWindows
from hob.guard.admission.settings import ActionLimits
from hob.testing.clock import ManualClock


def take(rates: ActionRates, sender: str, app: str) -> RateLimited | None:
    found = rates.refuse(sender, app)
    if found is None:
        rates.count(sender, app)
    return found


async def test_each_app_has_its_own_sliding_limit() -> None:
    clock = ManualClock()
    rates = ActionRates(ActionLimits(), clock)
    for _ in range(3):
        assert take(rates, "anna", "mail") is None
        await clock.advance(10)
    refused = take(rates, "anna", "mail")
    assert refused is not None
    assert (refused.wait, refused.alert) == (30.0, False)
    assert take(rates, "anna", "calendar") is None
    assert take(rates, "ben", "mail") is None
    await clock.advance(30)
    assert take(rates, "anna", "mail") is None
    assert take(rates, "anna", "mail") is not None


async def test_spike_blocks_all_actions_for_five_minutes_and_alerts_once() -> None:
    clock = ManualClock()
    rates = ActionRates(ActionLimits(), clock)
    assert [take(rates, "anna", f"app{n}") for n in range(10)] == [None] * 10
    told = [take(rates, "anna", "calendar") for _ in range(5)]
    assert [each is not None and each.alert for each in told] == [True, False, False, False, False]
    assert take(rates, "ben", "calendar") is None
    await clock.advance(299)
    assert take(rates, "anna", "files") is not None
    await clock.advance(1)
    assert take(rates, "anna", "files") is None


def test_app_with_limit_zero_is_never_used() -> None:
    refused = take(ActionRates(ActionLimits(apps={"mail": 0}), ManualClock()), "anna", "mail")
    assert refused is not None


def test_limits_ignore_the_wall_clock() -> None:
    clock = ManualClock()
    rates = ActionRates(ActionLimits(apps={"mail": 1}), clock)
    assert take(rates, "anna", "mail") is None
    clock.set_wall(clock.now().replace(year=2040))
    assert take(rates, "anna", "mail") is not None


def test_number_of_counted_senders_is_bounded() -> None:
    windows = SlidingWindows()
    for n in range(20_000):
        windows.take(n, 1, 0.0)
    assert len(windows._times) <= 10_000
    assert windows.take(19_999, 1, 0.0) > 0
