"""Rate limits for one sender's actions: checked before a call is allowed, counted when it is."""

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
"""Receives a spike once, with the sender, the app, the reason and the sender's class. Raises StoreErrors."""


class ToolRateLimit:
    """Applies `ActionRates` to calls. A turn counts for the least known of its speakers.

    `who_is` maps a sender to a person across all their addresses. Sandboxed commands do not count as actions.
    """

    def __init__(self, rates: ActionRates, who_is: Callable[[Inbound], str], alert: Alert) -> None:
        self._rates = rates
        self._who_is = who_is
        self._alert = alert

    async def refuse(self, analysis: ToolCallAnalysis, turn: Turn) -> Deny | None:
        """Return why this call must wait, or None. Raises StoreErrors."""
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
        """Count an allowed call."""
        if _acts(analysis):
            self._rates.count(self._who(_sender(turn)), _app(analysis))

    def _who(self, sender: Inbound | None) -> str:
        return "" if sender is None else self._who_is(sender)


def _acts(analysis: ToolCallAnalysis) -> bool:
    return bool(analysis.acts & _ACTS) and not (analysis.reading is not None and analysis.reading.runs)


def _app(analysis: ToolCallAnalysis) -> str:
    """Return the app of a tool: the first part of its name."""
    return analysis.tool.partition("_")[0]


def _sender(turn: Turn) -> Inbound | None:
    order = list(SenderClass)
    return max((*turn.inbounds, *turn.joined), key=lambda each: order.index(each.sender.cls), default=None)
