"""Rate limits of actions for one sender: looked at before a call is allowed, counted when it is."""

from collections.abc import Awaitable, Callable

from hob.core.messages import Inbound
from hob.core.ports.guard import Deny
from hob.core.trust.labels import SenderClass
from hob.core.turns import Turn
from hob.guard.admission.actions import ActionRates, RateLimited
from hob.guard.policy.call_analysis import ToolCallAnalysis
from hob.guard.policy.modes import Act

_ACTS = frozenset({Act.SEND, Act.PERSIST, Act.FINAL, Act.CONFIGURE})

Alert = Callable[[str, str, RateLimited, SenderClass], Awaitable[None]]
"""Told once of a spike: the sender, the app, why, and whose class it is. Raises StoreErrors."""


class ToolRateLimit:
    """The limits of `ActionRates` for calls. A turn acts for the least known of those who speak in it.

    `who_is` names a sender: a person over all their addresses. Commands in the sandbox are no actions in this sense.
    """

    def __init__(self, rates: ActionRates, who_is: Callable[[Inbound], str], alert: Alert) -> None:
        self._rates = rates
        self._who_is = who_is
        self._alert = alert

    async def refuse(self, analysis: ToolCallAnalysis, turn: Turn) -> Deny | None:
        """Why this has to wait; None where it need not. Raises StoreErrors."""
        if not _acts(analysis):
            return None
        sender = _sender(turn)
        who, app = self._who(sender), _app(analysis)
        found = self._rates.refuse(who, app)
        if found is None:
            return None
        if found.alert:
            await self._alert(who, app, found, SenderClass.STRANGER if sender is None else sender.sender.cls)
        return Deny("rate", found.reason)

    def count(self, analysis: ToolCallAnalysis, turn: Turn) -> None:
        """It was allowed."""
        if _acts(analysis):
            self._rates.count(self._who(_sender(turn)), _app(analysis))

    def _who(self, sender: Inbound | None) -> str:
        return "" if sender is None else self._who_is(sender)


def _acts(analysis: ToolCallAnalysis) -> bool:
    return bool(analysis.acts & _ACTS) and not (analysis.reading is not None and analysis.reading.runs)


def _app(analysis: ToolCallAnalysis) -> str:
    """What a tool belongs to, which its name begins with."""
    return analysis.tool.partition("_")[0]


def _sender(turn: Turn) -> Inbound | None:
    order = list(SenderClass)
    return max((*turn.inbounds, *turn.joined), key=lambda each: order.index(each.sender.cls), default=None)
