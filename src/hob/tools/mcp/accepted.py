"""The accepted state of MCP servers: each tool with the hash of its description.

Hob needs nothing else about a server until one of its tools is called, so an unused server costs nothing.
"""

import hashlib
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Restart, Tier, ToolSpec
from hob.core.values import dataclass

log = logging.getLogger(__name__)

FOLDER = "mcp"
"""The folder in the home that holds everything about MCP servers."""

PINNED = "package"
"""The file, beside a server's packages, that names the installed package."""

_LONGEST_NAME = 64  # the longest tool name that providers accept
LONGEST_DESCRIPTION = 1_500
"""Maximum characters of a tool's description that models see."""
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class AcceptedTool:
    """A tool as its server described it, with the tier, effects and roles that the guard uses.

    An `app_only` tool is not offered to models.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    hash: str
    tier: int
    effects: tuple[str, ...]
    roles: Mapping[str, Any] | None = None
    app_only: bool = False

    def covers(self, now: "AcceptedTool") -> bool:
        """Return whether this acceptance still holds for `now`, with the same description and no additional effects."""
        accepted = {*self.effects, *([Effect.WRITES] if Effect.WRITES_FINALLY in self.effects else [])}
        return self.hash == now.hash and accepted.issuperset(now.effects)


@dataclass(frozen=True, slots=True)
class AcceptedServer:
    """A server as it was when the owner accepted it. `protocol` is the MCP version that it spoke."""

    name: str
    title: str = ""
    version: str = ""
    protocol: str = ""
    resources: bool = False
    prompts: bool = False
    tools: tuple[AcceptedTool, ...] = field(default=())


def installed_at(home: Path, name: str) -> Path:
    """Return the folder of a server's installed packages."""
    return home / FOLDER / "installed" / name


def installed_package(home: Path, name: str) -> str:
    """Return the installed package of a server with its version and arguments; empty if there is none."""
    file = installed_at(home, name) / PINNED
    return file.read_text("utf-8") if file.exists() else ""


def hash_of(name: str, description: str, schema: Mapping[str, Any], hints: Mapping[str, Any]) -> str:
    """Hash a tool's description. The order of keys does not matter."""
    text = json.dumps([name, description, schema, hints], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def load_accepted(home: Path, name: str) -> AcceptedServer | None:
    """Load the accepted state of a server. Returns None if nothing was accepted or the file is unreadable (logged)."""
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
    """Write the accepted state of a server. Raises OSError."""
    folder = home / FOLDER
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = folder / f".{server.name}.part"
    part.write_text(json.dumps(_as_json(server), indent=1, ensure_ascii=False) + "\n", "utf-8")
    part.chmod(0o600)
    part.replace(folder / f"{server.name}.json")


def spec_of(server: str, tool: AcceptedTool, called: str, timeout: float, *, remote: bool) -> ToolSpec:
    """Build the spec that models and the guard see. `called` is the tool's name after renaming.

    `remote` means that arguments leave this machine.
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
    """Return `server__tool` in characters that providers accept. Long names are cut and end with a hash."""
    name = _ODD.sub("_", f"{server}__{tool}")
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[: _LONGEST_NAME - 9]}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _as_json(server: AcceptedServer) -> dict[str, Any]:
    return {
        "name": server.name,
        "title": server.title,
        "version": server.version,
        "protocol": server.protocol,
        "resources": server.resources,
        "prompts": server.prompts,
        "tools": [
            {
                "name": each.name,
                "description": each.description,
                "schema": each.schema,
                "hash": each.hash,
                "tier": each.tier,
                "effects": each.effects,
                "roles": each.roles,
                "app_only": each.app_only,
            }
            for each in server.tools
        ],
    }


def _tool(value: Mapping[str, Any]) -> AcceptedTool:
    """Load a tool from JSON; the result equals the tool that was saved."""
    roles = value["roles"] and {
        name: tuple(each) if isinstance(each, list) else each for name, each in value["roles"].items()
    }
    return AcceptedTool(**{**value, "effects": tuple(value["effects"]), "roles": roles})
