"""What all MCP servers of a home share."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hob.core.clock import Clock
from hob.core.ports.processes import ProcessRecords
from hob.core.values import dataclass
from hob.tools.sandbox.settings import SandboxSettings


@dataclass(frozen=True, slots=True)
class Around:
    """The home, and what the programs of servers run in."""

    home: Path
    sandbox: SandboxSettings
    environ: Mapping[str, str]
    clock: Clock
    records: ProcessRecords | None = None
    login: Any = None
    """A person who is there to log in: a `Login`, whose module takes a while to load."""
