"""The environment shared by all MCP servers of a home."""

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
"""Calls a model for a server, with name, daily token limit, system prompt, question and maximum answer tokens.

Raises HobErrors.
"""


async def unsampled(_server: str, _tokens: int, _system: str, _question: str, _maximum: int) -> str:
    """Refuse to sample. Raises HobError."""
    raise HobError("a model is asked for servers by `hob serve` alone")


def ignore_host_decision(_server: str, _decision: HostDecision) -> None:
    """Ignore the decision."""


@dataclass(frozen=True, slots=True)
class ServerEnvironment:
    """The home, the sandbox and the callbacks that server programs use."""

    home: Path
    sandbox: SandboxSettings
    environ: Mapping[str, str]
    clock: Clock
    records: ProcessRecords | None = None
    login: Any = None
    """An `OAuthLogin` if a person can log in. Typed loosely because its module is slow to import."""
    decided: Callable[[str, HostDecision], None] = ignore_host_decision
    """Called for every connection of a program and every use of a credential."""
    sample: Sample = unsampled
