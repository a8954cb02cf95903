"""Specs of the media tools."""

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Restart, Tier, ToolSpec

IMAGE = ToolSpec(
    name="image",
    description="Have a picture described, or a question about it answered, by a model that sees.",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "a file, or blob:ID"},
            "question": {"type": "string", "minLength": 0, "maxLength": 1000},
        },
        "required": ["path"],
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}),
    restart=Restart.AGAIN,
    parallel=True,
    timeout=120,
    output_cap=4_000,
    roles=ArgumentRole(paths=("path",), plain=("question",)),
)
IMAGE_GENERATE = ToolSpec(
    name="image_generate",
    description="Make a picture of what a text says. The user sees it in the dashboard.",
    schema={
        "type": "object",
        "properties": {
            "prompt": {"type": "string", "minLength": 1, "maxLength": 30_000},
            "path": {"type": "string", "description": "a new file for it"},
            "size": {"type": "string", "enum": ["auto", "1024x1024", "1536x1024", "1024x1536"]},
        },
        "required": ["prompt", "path"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.WRITES}),
    timeout=300,
    roles=ArgumentRole(paths=("path",), plain=("prompt", "size")),
)
TTS = ToolSpec(
    name="tts",
    description="Speak a text: gives a sound file.",
    schema={
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 20_000},
            "path": {"type": "string", "description": "a new file for it; without one it is kept as a blob"},
            "voice": {"type": "string", "minLength": 0, "maxLength": 100},
        },
        "required": ["text"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.WRITES}),
    timeout=300,
    roles=ArgumentRole(paths=("path",), plain=("text", "voice")),
)
PDF = ToolSpec(
    name="pdf",
    description="Read pages of a PDF.",
    schema={
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "a file, or blob:ID"},
            "pages": {"type": "string", "description": "e.g. 3 or 1-5; at most 20"},
        },
        "required": ["path"],
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}),
    restart=Restart.AGAIN,
    parallel=True,
    roles=ArgumentRole(paths=("path",), plain=("pages",)),
)
