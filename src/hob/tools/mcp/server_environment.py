"""What all MCP servers of a home share."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from hob.core.clock import Clock
from hob.core.errors import HobError
from hob.core.ports.processes import ProcessRecords
from hob.core.values import dataclass
from hob.tools.sandbox.network.hosts import HostDecision
from hob.tools.sandbox.settings import SandboxSettings

Sample = Callable[[str, int, str, str, int], Awaitable[str]]
"""Asks a model for a server: within its tokens of a day, with a system prompt, a question, and the most of an answer.

Raises HobErrors."""


async def unsampled(_server: str, _tokens: int, _system: str, _question: str, _maximum: int) -> str:
    """Where no model is asked. Raises HobError."""
    raise HobError("a model is asked for servers by `hob serve` alone")


def ignore_host_decision(_server: str, _decision: HostDecision) -> None:
    """Where no one notes which hosts a program reaches."""


@dataclass(frozen=True, slots=True)
class ServerEnvironment:
    """The home, and what the programs of servers run in."""

    home: Path
    sandbox: SandboxSettings
    environ: Mapping[str, str]
    clock: Clock
    records: ProcessRecords | None = None
    login: Any = None
    """A person who is there to log in: a `Login`, whose module takes a while to load."""
    decided: Callable[[str, HostDecision], None] = ignore_host_decision
    """Hears of every connection of a program, and of each use of a credential."""
    sample: Sample = unsampled
