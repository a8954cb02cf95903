"""Specs of the tools that change files."""

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Tier, ToolSpec

WRITE = ToolSpec(
    name="write",
    description="Write a whole file; folders are made. For a part use edit.",
    schema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.WRITES}),
    roles=ArgumentRole(paths=("path",), plain=("content",)),
)
EDIT = ToolSpec(
    name="edit",
    description="Replace old_text, which must fit one place.",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "old_text": {"type": "string"},
            "new_text": {"type": "string"},
            "replace_all": {"type": "boolean"},
        },
        "required": ["path", "old_text", "new_text"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.WRITES}),
    roles=ArgumentRole(paths=("path",), plain=("old_text", "new_text", "replace_all")),
)
APPLY_PATCH = ToolSpec(
    name="apply_patch",
    description="Change, create, delete, rename files: all or nothing.",
    schema={
        "type": "object",
        "properties": {"patch": {"type": "string", "description": "Unified diff or *** Begin Patch"}},
        "required": ["patch"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.WRITES}),
    roles=ArgumentRole(patches=("patch",)),
)
