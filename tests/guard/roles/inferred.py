"""The same services as foreign servers: names and schemas of their tools, without any declared effect or role."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hob.core.tools import ToolSpec
from hob.tools.mcp.effect_inference import guess_effects, guess_roles, tier_of
from tests.guard.roles.services import SERVICES

_LIST: Mapping[str, Any] = {"type": "array", "items": {"type": "string"}}
_TYPES: Mapping[str, Mapping[str, Any]] = {
    **dict.fromkeys(("recipients", "cc", "bcc", "participants", "attachments"), _LIST),
    "amount": {"type": "number"},
    "n": {"type": "integer"},
    "recurring": {"type": "boolean"},
}


def inferred(server: str, declared: ToolSpec) -> ToolSpec:
    """Return the tool as Hob would offer it to the owner for acceptance, if its server declared only a schema."""
    arguments = sorted(declared.roles.known()) if declared.roles else []
    schema = {"type": "object", "properties": {each: _TYPES.get(each, {"type": "string"}) for each in arguments}}
    effects = guess_effects(declared.name, schema, {})
    roles, effects = guess_roles(server, declared.name, schema, effects)
    return replace(declared, schema=schema, effects=effects, roles=roles, tier=tier_of(effects))


INFERRED: Mapping[str, tuple[ToolSpec, ...]] = {
    server: tuple(inferred(server, spec) for spec in specs) for server, specs in SERVICES.items()
}
