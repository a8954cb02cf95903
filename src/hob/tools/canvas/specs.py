"""Spec of the canvas tool."""

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Restart, Tier, ToolSpec

CANVAS = ToolSpec(
    name="canvas",
    description="Show the user a page in the dashboard; hide it; run a script in it; see its text.",
    schema={
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["present", "hide", "eval", "snapshot"]},
            "page": {"type": "string", "description": "its name", "minLength": 1, "maxLength": 60},
            "html": {
                "type": "string",
                "description": "whole, all within: it has no network",
                "minLength": 0,
                "maxLength": 500_000,
            },
            "file": {"type": "string", "description": "instead of html; its scripts are off"},
            "script": {"type": "string", "description": "JavaScript to eval", "minLength": 0, "maxLength": 20_000},
            "version": {
                "type": "integer",
                "description": "an earlier one to present again",
                "minimum": 0,
                "maximum": 999_999,
            },
        },
        "required": ["action"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.READS_UNTRUSTED, Effect.WRITES}),
    restart=Restart.AGAIN,
    output_cap=16_000,
    roles=ArgumentRole(
        sources=("file",),
        scripts=("script",),
        plain=("action", "page", "html", "version"),
        says="{action} the page {page} {script}",
    ),
)
