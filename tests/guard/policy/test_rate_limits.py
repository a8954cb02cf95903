"""Rate limits for one sender: what counts as an action, and for whom."""

from dataclasses import replace

from hob.core.ids import SessionKey, TurnId, new_span_id, new_trace_id
from hob.core.messages import Inbound
from hob.core.trust.labels import SenderClass
from hob.core.turns import Turn
from hob.guard.admission.actions import ActionRates, RateLimited
from hob.guard.admission.settings import ActionLimits
from hob.guard.policy.call_analysis import ToolCallAnalysis, read_call
from hob.guard.policy.context import Sandbox
from hob.guard.policy.rate_limits import ToolRateLimit
from hob.testing.clock import ManualClock
from tests.guard.admission_bench import written
from tests.guard.calling import READER, SPECS, call_of


def analysis(tool: str, **arguments: object) -> ToolCallAnalysis:
    found = read_call(call_of(tool, **arguments), SPECS[tool], READER, Sandbox())
    assert found is not None
    return found


def turn(*inbounds: Inbound) -> Turn:
    return Turn(TurnId("t_1"), SessionKey("s"), new_trace_id(), new_span_id(), inbounds)


class Paced:
    def __init__(self) -> None:
        self.alerts: list[tuple[str, str]] = []
        self.clock = ManualClock()
        self.pace = ToolRateLimit(
            ActionRates(ActionLimits(), self.clock), lambda inbound: inbound.sender.id, self.alert
        )

    async def alert(self, who: str, app: str, why: RateLimited, cls: SenderClass) -> None:
        self.alerts.append((who, app))

    async def does(self, tool: str, sender: str = "2", **arguments: object) -> str:
        """Return why the call must wait, "" if it is allowed."""
        made, here = analysis(tool, **arguments), turn(written(sender=sender))
        refused = await self.pace.refuse(made, here)
        if refused is None:
            self.pace.count(made, here)
        return "" if refused is None else refused.reason


async def test_sender_may_send_three_mails_a_minute() -> None:
    paced = Paced()
    assert [await paced.does("mail_send", to="a@b.example", body="x") for _ in range(3)] == ["", "", ""]
    assert "again in 60 s" in await paced.does("mail_send", to="a@b.example", body="x")
    assert await paced.does("mail_send", sender="3", to="a@b.example", body="x") == ""
    await paced.clock.advance(61)
    assert await paced.does("mail_send", to="a@b.example", body="x") == ""


async def test_eleven_actions_in_a_minute_block_all_and_alert_once() -> None:
    paced = Paced()
    for _ in range(10):
        assert await paced.does("remember", text="x") == ""
    assert "none for 300 s" in await paced.does("remember", text="x")
    assert await paced.does("delete_file", path="a")
    assert paced.alerts == [("2", "remember")]


async def test_reading_writing_and_commands_are_not_counted() -> None:
    paced = Paced()
    for _ in range(50):
        assert not await paced.does("read", path="a.md")
        assert not await paced.does("write", path="a.md", content="x")
        assert not await paced.does("exec", command="make")
        assert not await paced.does("web_fetch", url="https://example.org/")


async def test_turn_of_several_people_counts_for_the_least_known() -> None:
    paced = Paced()
    owner = written(sender="1")
    owner = replace(owner, sender=replace(owner.sender, cls=SenderClass.OWNER))
    mail = analysis("mail_send", to="a@b.example", body="x")
    for _ in range(3):
        paced.pace.count(mail, turn(owner, written(sender="2")))
    assert await paced.pace.refuse(mail, turn(written(sender="2"))) is not None
    assert await paced.pace.refuse(mail, turn(owner)) is None
