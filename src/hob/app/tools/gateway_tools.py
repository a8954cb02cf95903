"""The tools `gateway` and `gateway_set`: Hob's status and settings, and changes to run-time settings."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol

from hob.core.argument_roles import ArgumentRole
from hob.core.errors import InvalidCall, InvalidRequest, ToolRefused
from hob.core.ports.tools import CallContext
from hob.core.tools import Effect, Restart, Tier, ToolCall
from hob.core.trust.labels import HOB_LABEL, SenderClass
from hob.core.turns import Turn
from hob.tools.registry.declaration import Tools, tool
from hob.tools.registry.schemas import Bounds

LINE = "Hob's status and settings"
NEVER = frozenset({"policy", "sandbox", "approvals", "secrets", "gateway", "admission", "dashboard"})
"""Sections that no tool may change."""
_ABOUT = (
    *("version", "since", "running", "waiting", "parked", "owed", "undeliverable", "model", "resting", "store", "jobs"),
)
_MAX = 60


class Gateway(Protocol):
    """Status and settings of this Hob."""

    async def status(self) -> Mapping[str, Any]:
        """Return the status."""

    def settings(self) -> Sequence[Mapping[str, Any]]:
        """Return every setting without secrets."""

    async def change_settings(self, values: Mapping[str, Any], by: str) -> Sequence[Mapping[str, Any]]:
        """Change run-time settings. Raises InvalidRequest."""


class GatewayTools:
    """The tools, for the owner only."""

    def __init__(self, gateway: Callable[[], Gateway]) -> None:
        self._gateway = gateway
        self.toolset = Tools(self.gateway, self.gateway_set)

    @tool(
        tier=Tier.READ,
        effects=frozenset({Effect.READS_PRIVATE}),
        restart=Restart.AGAIN,
        label=HOB_LABEL,
        output_cap=16_000,
        roles=ArgumentRole(plain=("action", "query")),
    )
    async def gateway(
        self,
        action: Literal["status", "settings"],
        context: CallContext,
        query: Annotated[str, "part of a setting's name", Bounds(0, 100)] = "",
    ) -> str:
        """Show Hob's status, or its settings and their origins."""
        _check_owner(context.turn)
        if action == "status":
            status = await self._gateway().status()
            return json.dumps({key: status[key] for key in _ABOUT if key in status}, default=str)
        found = [each for each in self._gateway().settings() if query.casefold() in each["key"].casefold()]
        shown = [f"{each['key']} = {json.dumps(each['value'])} ({each['origin']})" for each in found[:_MAX]]
        if left := len(found) - len(shown):
            shown.append(f"[{left} more; give a query]")
        return "\n".join(shown) or f"no setting is called {query!r}"

    @tool(
        effects=frozenset({Effect.PERSISTS}),
        label=HOB_LABEL,
        roles=ArgumentRole(keys=("name",), plain=("value",), says="set {name} to {value}", configures=True),
    )
    async def gateway_set(self, name: str, value: str, context: CallContext) -> str:
        """Change a run-time setting to what the user wrote; null reverts the change."""
        _check_change(context.turn, name, value)
        changeable = [each["key"] for each in self._gateway().settings() if each["changeable"]]
        if name not in changeable:
            some = ", ".join(each for each in changeable if each.partition(".")[0] not in NEVER)
            raise InvalidCall(f"{name} does not change while Hob runs; these do: {some}")
        try:
            await self._gateway().change_settings({name: None if value == "null" else value}, f"turn:{context.turn.id}")
        except InvalidRequest as error:
            raise InvalidCall(str(error)) from error
        return f"{name} is {value} from now on" if value != "null" else f"{name} is as before"


def check_change(call: ToolCall, turn: Turn) -> None:
    """Raise ToolRefused for a change that no approval may allow."""
    if call.name == "gateway_set":
        arguments = json.loads(call.arguments or "{}")
        _check_change(turn, str(arguments.get("name") or ""), str(arguments.get("value") or ""))


def _check_change(turn: Turn, name: str, value: str) -> None:
    _check_owner(turn)
    section = name.partition(".")[0]
    if section in NEVER:
        raise ToolRefused(f"[{section}] is changed by the owner alone: hob config set {name} ...")
    words = "\n".join(inbound.text for inbound in (*turn.inbounds, *turn.joined)).casefold()
    if value != "null" and value.casefold() not in words:
        raise ToolRefused(f"the user did not write {value!r}: ask them for the value itself")


def _check_owner(turn: Turn) -> None:
    """Raise ToolRefused unless the owner typed every message of the turn."""
    inbounds = (*turn.inbounds, *turn.joined)
    if not inbounds or any(each.sender.cls is not SenderClass.OWNER or each.hops for each in inbounds):
        raise ToolRefused("only the owner may see and change how Hob is set")
