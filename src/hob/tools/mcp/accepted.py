"""What the owner has accepted of a server: its tools as they were described then, each by the hash of its description.

It is all that Hob reads of a server until a tool of it is called, so one that is not used costs nothing.
"""

import hashlib
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Restart, Tier, ToolSpec
from hob.core.values import dataclass

log = logging.getLogger(__name__)

FOLDER = "mcp"
"""The folder in the home for what belongs to the servers."""

PINNED = "package"
"""The file beside a server's packages that names what was installed."""

_LONGEST_NAME = 64  # providers take no longer names of tools
LONGEST_DESCRIPTION = 1_500
"""Of a tool, as models are told of it."""
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class AcceptedTool:
    """A tool as its server described it, and what the guard takes it for. `app_only`: models are not offered it."""

    name: str
    description: str
    schema: Mapping[str, Any]
    hash: str
    tier: int
    effects: tuple[str, ...]
    roles: Mapping[str, Any] | None = None
    app_only: bool = False

    def covers(self, now: "AcceptedTool") -> bool:
        """Whether what the owner accepted holds for the tool as it is now: the same description, no further effects."""
        return self.hash == now.hash and set(now.effects) <= set(self.effects)


@dataclass(frozen=True, slots=True)
class AcceptedServer:
    """A server as it was when the owner accepted it. `protocol` is the version of MCP that it spoke."""

    name: str
    title: str = ""
    version: str = ""
    protocol: str = ""
    resources: bool = False
    prompts: bool = False
    tools: tuple[AcceptedTool, ...] = field(default=())


def installed_at(home: Path, name: str) -> Path:
    """Where a server's packages are, if Hob installed them."""
    return home / FOLDER / "installed" / name


def installed_package(home: Path, name: str) -> str:
    """The package that was installed for a server, with its version and arguments; empty where none was."""
    file = installed_at(home, name) / PINNED
    return file.read_text("utf-8") if file.exists() else ""


def hash_of(name: str, description: str, schema: Mapping[str, Any], hints: Mapping[str, Any]) -> str:
    """What a tool's description comes to; the order of its parts counts for nothing."""
    text = json.dumps([name, description, schema, hints], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load_accepted(home: Path, name: str) -> AcceptedServer | None:
    """What was accepted of this server; None where nothing was, or the file cannot be read, which is logged."""
    path = home / FOLDER / f"{name}.json"
    try:
        value = json.loads(path.read_bytes())
        return AcceptedServer(**{**value, "tools": tuple(map(_tool, value["tools"]))})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("%s cannot be read; `hob mcp accept %s` writes it anew: %s", path, name, error)
        return None


def save_accepted(home: Path, server: AcceptedServer) -> None:
    """Keep what was accepted. Raises OSError."""
    folder = home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = folder / f".{server.name}.part"
    part.write_text(json.dumps(asdict(server), indent=1, ensure_ascii=False) + "\n", "utf-8")
    part.chmod(0o600)
    part.replace(folder / f"{server.name}.json")


def spec_of(server: str, tool: AcceptedTool, called: str, timeout: float, *, remote: bool) -> ToolSpec:
    """The tool as models and guard see it. `called` is the name that the owner gave it, or its own.

    `remote`: what it is told leaves this machine.
    """
    effects = frozenset(Effect(each) for each in tool.effects)
    reads = effects <= {Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}
    return ToolSpec(
        name=tool_name(server, called),
        description=tool.description[:LONGEST_DESCRIPTION],
        schema=tool.schema,
        tier=Tier(tool.tier),
        effects=effects,
        restart=Restart.AGAIN if reads else Restart.RESUME,
        parallel=reads,
        timeout=timeout,
        roles=None if tool.roles is None else ArgumentRole(**{**tool.roles, "remote": remote}),
    )


def tool_name(server: str, tool: str) -> str:
    """`server__tool`, as providers take names; a long one ends with what tells it from others."""
    name = _ODD.sub("_", f"{server}__{tool}")
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _tool(value: Mapping[str, Any]) -> AcceptedTool:
    """A tool out of JSON, equal to what it was made of."""
    roles = value["roles"] and {
        name: tuple(each) if isinstance(each, list) else each for name, each in value["roles"].items()
    }
    return AcceptedTool(**{**value, "effects": tuple(value["effects"]), "roles": roles})
