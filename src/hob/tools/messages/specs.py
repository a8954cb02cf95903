"""Specs of the tools for messages and conversations."""

from dataclasses import replace

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Restart, Tier, ToolSpec, Variant

_READS = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
_EFFECTS = _READS | {Effect.COMMUNICATES}
_ROLES = ArgumentRole(
    sources=("file",),
    recipients=("to",),
    channel=("channel",),
    bodies=("text", "options"),
    plain=("action", "message", "limit"),
    says="{action} a message: {to} {text}",
    by_name=True,
    answers=True,
)
_SAYS = {
    "send": "write in a chat ({to}): {text}",
    "reply": "reply in a chat ({to}): {text}",
    "edit": "change a message to: {text}",
    "delete": "delete a message",
    "react": "react with {text} to a message",
    "poll": "ask in a chat ({to}): {text} ({options})",
    "read": "read a chat ({to})",
}
MESSAGE = ToolSpec(
    name="message",
    description="Write in chats of people the user knows, besides your reply; change what you wrote.",
    schema={
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["send", "reply", "edit", "delete", "react", "poll", "read"]},
            "to": {"type": "string", "description": "a known person's name or address; without it this chat"},
            "text": {"type": "string", "description": "or the sign to react with", "minLength": 0, "maxLength": 40_000},
            "channel": {"type": "string"},
            "message": {
                "type": "string",
                "description": "id: what is replied to, edited, deleted, reacted to; last: the user's",
            },
            "file": {"type": "string", "description": "a path, or blob:ID"},
            "options": {
                "type": "array",
                "items": {"type": "string"},
                "description": "buttons, or what a poll is about",
                "minItems": 0,
                "maxItems": 10,
            },
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        },
        "required": ["action"],
    },
    effects=_EFFECTS,
    restart=Restart.AGAIN,
    roles=_ROLES,
    varies_by=("action",),
    variants={
        action: Variant(_READS if action == "read" else _EFFECTS, replace(_ROLES, says=says))
        for action, says in _SAYS.items()
    },
)
ASK_USER = ToolSpec(
    name="ask_user",
    description="Ask what only the user knows; waits for the answer.",
    schema={
        "type": "object",
        "properties": {"question": {"type": "string"}, "options": {"type": "array", "items": {"type": "string"}}},
        "required": ["question"],
    },
    tier=Tier.READ,
    effects=frozenset(),
    restart=Restart.AGAIN,
    roles=ArgumentRole(plain=("question", "options")),
)
REPORT_PROGRESS = ToolSpec(
    name="report_progress",
    description="Tell the waiting user how far a long task is, in a few words.",
    schema={
        "type": "object",
        "properties": {"text": {"type": "string"}, "percent": {"type": ["integer", "null"], "description": "0 to 100"}},
        "required": ["text"],
    },
    tier=Tier.READ,
    effects=frozenset(),
    restart=Restart.AGAIN,
    roles=ArgumentRole(plain=("text", "percent")),
)
