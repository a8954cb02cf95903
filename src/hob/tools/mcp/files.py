"""Server definitions of other programs: `.mcp.json` and Claude Desktop's configuration."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable

_VARIABLE = re.compile(r"\$\{([A-Z_][A-Z0-9_]*)(?::-[^}]*)?\}")
_ODD = re.compile(r"[^a-z0-9]+")


def read_servers(path: Path) -> Mapping[str, Mapping[str, Any]]:
    """Read the servers of a file as Hob settings, by name. A value `${NAME}` becomes a reference to that variable.

    Raises InvalidRequest if the file defines no servers.
    """
    try:
        value = json.loads(path.expanduser().read_bytes())
    except (OSError, ValueError) as error:
        raise InvalidRequest(translatable("{path} cannot be read: {error}", path=path, error=error)) from error
    servers = value.get("mcpServers", value.get("servers")) if isinstance(value, dict) else None
    if not isinstance(servers, dict) or not all(isinstance(each, dict) for each in servers.values()):
        raise InvalidRequest(translatable("{path} has no mcpServers", path=path))
    return {name_of(name): _server_settings(each) for name, each in servers.items()}


def name_of(name: str) -> str:
    """Return a name for a server that is valid in the settings."""
    plain = _ODD.sub("-", name.lower()).strip("-")[:24].strip("-")
    return plain if plain[:1].isalpha() else f"s-{plain}"[:24]


def _server_settings(server: Mapping[str, Any]) -> Mapping[str, Any]:
    command = [server["command"], *server.get("args", ())] if isinstance(server.get("command"), str) else []
    found = {
        "command": [str(each) for each in command],
        "url": str(server.get("url") or server.get("serverUrl") or ""),
        "env": _resolve_references(server.get("env")),
        "headers": _resolve_references(server.get("headers")),
    }
    return {key: each for key, each in found.items() if each}


def _resolve_references(values: Any) -> Mapping[str, str]:
    """Return the values, with `${NAME}` as `env:NAME`."""
    found: dict[str, str] = {}
    for name, value in values.items() if isinstance(values, dict) else ():
        whole = _VARIABLE.fullmatch(str(value))
        found[str(name)] = f"env:{whole[1]}" if whole else str(value)
    return found
