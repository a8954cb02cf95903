"""Hooks: extension points that observe a turn and may change its course. A class's docstring is its manual.

A hook receives one of these values and returns a decision; it never changes its input. A hook that raises or times out
is logged and counts as `Proceed`: a failing hook never stops a turn.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from hob.core.models import ModelReply, ModelRequest
from hob.core.states import TurnState
from hob.core.tools import ToolCall, ToolResult
from hob.core.turns import Turn
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class BeforeTurn:
    """A turn is about to run. `Deny` ends it with the reason shown; `UseModel` chooses its model."""

    turn: Turn
    model: str


@dataclass(frozen=True, slots=True)
class AfterTurn:
    """A turn has ended and its outcome is committed. The decision is ignored."""

    turn: Turn
    state: TurnState
    reply: str


@dataclass(frozen=True, slots=True)
class BeforeModel:
    """The model is about to be called. `UseModel` chooses another; `Deny` ends the turn with the reason shown."""

    turn: Turn
    request: ModelRequest


@dataclass(frozen=True, slots=True)
class AfterModel:
    """The model has answered. `Deny` ends the turn and shows the reason instead of the answer."""

    turn: Turn
    reply: ModelReply


@dataclass(frozen=True, slots=True)
class BeforeTool:
    """A call is about to be judged. `Replace` changes its arguments; `Deny` tells the model the reason."""

    turn: Turn
    call: ToolCall


@dataclass(frozen=True, slots=True)
class AfterTool:
    """A call returned a result. `Deny` withholds it from the model, which receives the reason instead."""

    turn: Turn
    call: ToolCall
    result: ToolResult


HookEvent = BeforeTurn | AfterTurn | BeforeModel | AfterModel | BeforeTool | AfterTool


@dataclass(frozen=True, slots=True)
class Proceed:
    """Continue unchanged."""


@dataclass(frozen=True, slots=True)
class Replace:
    """Continue with these arguments instead."""

    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class UseModel:
    """Continue with this model instead."""

    model: str


@dataclass(frozen=True, slots=True)
class Deny:
    """Refuse, with a reason."""

    reason: str


Decision = Proceed | Replace | UseModel | Deny


class Hook(Protocol):
    """A hook function. `name` appears in logs."""

    name: str

    async def __call__(self, event: HookEvent) -> Decision:
        """Decide about one event. May raise anything."""
