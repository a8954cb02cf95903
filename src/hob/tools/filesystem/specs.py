"""Specs of the file tools that only read."""

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Restart, Tier, ToolSpec

READING = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})

READ = ToolSpec(
    name="read",
    description="Read a text file in numbered lines, a document, a picture or a folder.",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Or blob:ID"},
            "offset": {"type": "integer", "description": "First line; below 0 from the end"},
            "limit": {"type": "integer"},
            "at": {"type": "integer"},
            "raw": {"type": "boolean"},
        },
        "required": ["path"],
    },
    tier=Tier.READ,
    effects=READING,
    restart=Restart.AGAIN,
    parallel=True,
    output_cap=25_000,
    roles=ArgumentRole(paths=("path",), plain=("offset", "limit", "at", "raw")),
)
LIST_DIR = ToolSpec(
    name="list_dir",
    description="List a folder: names, sizes in bytes, where links lead.",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "depth": {"type": "integer", "description": "Levels, 1 to 8"},
            "all": {"type": "boolean", "description": "With what .gitignore leaves out"},
        },
    },
    tier=Tier.READ,
    effects=READING,
    restart=Restart.AGAIN,
    parallel=True,
    output_cap=24_000,
    roles=ArgumentRole(paths=("path",), plain=("depth", "all")),
)
GLOB = ToolSpec(
    name="glob",
    description="Find files by name, the newest first.",
    schema={
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "*.py (any depth), src/**/*.{js,ts}"},
            "path": {"type": "string"},
            "limit": {"type": "integer"},
            "all": {"type": "boolean", "description": "With what .gitignore leaves out"},
        },
        "required": ["pattern"],
    },
    tier=Tier.READ,
    effects=READING,
    restart=Restart.AGAIN,
    parallel=True,
    output_cap=24_000,
    roles=ArgumentRole(paths=("path", "pattern"), plain=("limit", "all")),
)
GREP = ToolSpec(
    name="grep",
    description="Search the lines of files by a regular expression; (?i) ignores case.",
    schema={
        "type": "object",
        "properties": {
            "pattern": {"type": "string"},
            "path": {"type": "string"},
            "glob": {"type": "string"},
            "mode": {"type": "string", "enum": ["lines", "files", "counts"]},
            "context": {"type": "integer"},
            "limit": {"type": "integer"},
            "all": {"type": "boolean"},
        },
        "required": ["pattern"],
    },
    tier=Tier.READ,
    effects=READING,
    restart=Restart.AGAIN,
    parallel=True,
    output_cap=24_000,
    roles=ArgumentRole(paths=("path",), plain=("pattern", "glob", "mode", "context", "limit", "all")),
)
RESOLVE_PATH = ToolSpec(
    name="resolve_path",
    description="Tell where a name leads: the real path, what is there, and whether it may be read or written.",
    schema={"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    tier=Tier.READ,
    effects=READING,
    restart=Restart.AGAIN,
    parallel=True,
    roles=ArgumentRole(paths=("path",)),
)
