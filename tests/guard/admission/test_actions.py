"""Rate limits on actions for one sender."""

from hob.guard.admission.actions import ActionRates, SlidingWindows
from hob.guard.admission.settings import ActionLimits
from hob.testing.clock import ManualClock


async def test_each_app_has_its_own_sliding_limit() -> None:
    clock = ManualClock()
    rates = ActionRates(ActionLimits(), clock)
    for _ in range(3):
        assert rates.take("anna", "mail") is None
        await clock.advance(10)
    refused = rates.take("anna", "mail")
    assert refused is not None
    assert (refused.wait, refused.alert) == (30.0, False)
    assert rates.take("anna", "calendar") is None
    assert rates.take("ben", "mail") is None
    await clock.advance(30)
    assert rates.take("anna", "mail") is None
    assert rates.take("anna", "mail") is not None


async def test_spike_blocks_all_actions_for_five_minutes_and_alerts_once() -> None:
    clock = ManualClock()
    rates = ActionRates(ActionLimits(), clock)
    assert [rates.take("anna", f"app{n}") for n in range(10)] == [None] * 10
    told = [rates.take("anna", "calendar") for _ in range(5)]
    assert [each is not None and each.alert for each in told] == [True, False, False, False, False]
    assert rates.take("ben", "calendar") is None
    await clock.advance(299)
    assert rates.take("anna", "files") is not None
    await clock.advance(1)
    assert rates.take("anna", "files") is None


def test_app_with_limit_zero_is_never_used() -> None:
    refused = ActionRates(ActionLimits(apps={"mail": 0}), ManualClock()).take("anna", "mail")
    assert refused is not None


def test_limits_ignore_the_wall_clock() -> None:
    clock = ManualClock()
    rates = ActionRates(ActionLimits(apps={"mail": 1}), clock)
    assert rates.take("anna", "mail") is None
    clock.set_wall(clock.now().replace(year=2040))
    assert rates.take("anna", "mail") is not None


def test_number_of_counted_senders_is_bounded() -> None:
    windows = SlidingWindows()
    for n in range(20_000):
        windows.take(n, 1, 0.0)
    assert len(windows._times) <= 10_000
    assert windows.take(19_999, 1, 0.0) > 0
