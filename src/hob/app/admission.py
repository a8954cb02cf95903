"""Who may come in while the only doors are this machine's own: the terminal and the token's API."""

from dataclasses import replace

from hob.core.errors import ToolFailed
from hob.core.labels import SenderClass, Trust
from hob.core.messages import FETCHED_CHANNELS, Inbound
from hob.core.ports.guard import Admitted, Deny, Refused, Verdict
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.core.turns import Turn


class OwnerOnly:
    """Implements `Admission`: these channels are the owner's, and nobody else comes in."""

    def __init__(self, channels: frozenset[str] = FETCHED_CHANNELS) -> None:
        self._channels = channels

    def admit(self, inbound: Inbound) -> Admitted | Refused:
        if inbound.origin.channel in self._channels:
            return Admitted(replace(inbound.sender, cls=SenderClass.OWNER), classification="owner")
        return Refused(f"nobody is admitted on {inbound.origin.channel}")


class NoGuardYet:
    """Implements `Judge`: without a guard no tool is called."""

    async def judge(self, call: ToolCall, spec: ToolSpec, turn: Turn, trust: Trust) -> Verdict:
        return Deny("no-guard", "there is no guard that could allow this")


class NoTools:
    """Implements `Toolset`: there are none."""

    def specs(self) -> tuple[ToolSpec, ...]:
        return ()

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        raise ToolFailed(f"there is no tool {call.name}")
