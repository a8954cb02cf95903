"""Specs of the sub-agent and session tools."""

from dataclasses import replace

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Restart, Tier, ToolGroup, ToolSpec, Variant

SPAWN_TOOL = ToolSpec(
    name="spawn",
    description=(
        "Begin a sub-agent that reads and reports, in a session of its own. Returns at once; sessions_yield waits."
    ),
    schema={
        "type": "object",
        "properties": {
            "task": {"type": "string", "description": "All it needs to know.", "minLength": 1, "maxLength": 40_000},
            "label": {"type": "string", "minLength": 0, "maxLength": 80},
            "name": {"type": "string"},
            "agent": {"type": "string"},
            "model": {"type": "string"},
            "thinking": {"type": "string"},
            "timeout_seconds": {"type": "number", "description": "0: none", "minimum": 0, "maximum": 86_400},
            "cleanup": {"type": "string", "enum": ["keep", "delete"]},
            "context_mode": {
                "type": "string",
                "enum": ["isolated", "fork"],
                "description": "fork: it knows this conversation",
            },
            "share": {
                "type": "string",
                "enum": ["isolated", "handoff", "inherit-readonly"],
                "description": "less than a fork",
            },
            "attachments": {
                "type": "array",
                "items": {"type": "string"},
                "description": "blob ids it may read",
                "minItems": 0,
                "maxItems": 20,
            },
        },
        "required": ["task"],
    },
    tier=Tier.WRITE,
    effects=frozenset(),
    restart=Restart.AGAIN,
    roles=ArgumentRole(
        plain=(
            "task",
            "label",
            "name",
            "agent",
            "model",
            "thinking",
            "timeout_seconds",
            "cleanup",
            "context_mode",
            "share",
            "attachments",
        ),
        says="give a sub-agent this task: {task}",
    ),
)
SUBAGENTS = ToolSpec(
    name="subagents",
    description="See, correct or end the sub-agents of this session.",
    schema={
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["list", "steer", "kill"]},
            "target": {
                "type": "string",
                "description": "last, a number of the list, session, label, run id; or all (kill)",
            },
            "text": {"type": "string", "description": "for steer"},
        },
        "required": ["action"],
    },
    tier=Tier.WRITE,
    effects=frozenset(),
    roles=ArgumentRole(plain=("action", "target", "text")),
)
SESSIONS_YIELD = ToolSpec(
    name="sessions_yield",
    description="Wait for all sub-agents and answers of sessions; their results are this call's result.",
    schema={"type": "object", "properties": {}},
    tier=Tier.READ,
    effects=frozenset(),
    restart=Restart.AGAIN,
    roles=ArgumentRole(),
)
SESSIONS_LIST = ToolSpec(
    name="sessions_list",
    description="Visible sessions, newest first.",
    schema={
        "type": "object",
        "properties": {
            "search": {"type": "string"},
            "active_minutes": {"type": "integer", "description": "0: any"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "archived": {"type": "boolean"},
            "kinds": {"type": "array", "items": {"type": "string", "enum": ["main", "subagent"]}},
            "message_limit": {"type": "integer", "description": "newest messages", "minimum": 0, "maximum": 20},
        },
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE}),
    restart=Restart.AGAIN,
    roles=ArgumentRole(plain=("search", "active_minutes", "limit", "archived", "kinds", "message_limit")),
)
SESSIONS_HISTORY = ToolSpec(
    name="sessions_history",
    description="What was said in a session, oldest first.",
    schema={
        "type": "object",
        "properties": {
            "session": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 200},
            "offset": {"type": "integer", "description": "how many of the newest are left out", "minimum": 0},
            "include_tools": {"type": "boolean", "description": "results of tools too; the default"},
        },
        "required": ["session"],
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE}),
    restart=Restart.AGAIN,
    roles=ArgumentRole(plain=("session", "limit", "offset", "include_tools")),
)
SESSIONS_SEARCH = ToolSpec(
    name="sessions_search",
    description="Find words in what was said in sessions.",
    schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 200},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        },
        "required": ["query"],
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE}),
    restart=Restart.AGAIN,
    roles=ArgumentRole(plain=("query", "limit")),
)
SESSIONS_SEND = ToolSpec(
    name="sessions_send",
    description="Write to another session of Hob, and wait for its answer.",
    schema={
        "type": "object",
        "properties": {
            "session": {"type": "string"},
            "message": {"type": "string", "minLength": 1, "maxLength": 40_000},
            "timeout_seconds": {
                "type": "number",
                "description": "0: no answer is awaited",
                "minimum": 0,
                "maximum": 3600,
            },
        },
        "required": ["session", "message"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.READS_PRIVATE}),
    restart=Restart.AGAIN,
    roles=ArgumentRole(
        plain=("session", "message", "timeout_seconds"), says="tell the conversation {session}: {message}"
    ),
)
_STATUS_ROLES = ArgumentRole(plain=("session", "model", "changes_since"))
SESSION_STATUS = ToolSpec(
    name="session_status",
    description="A session's model, size and cost, and the time; can choose its model.",
    schema={
        "type": "object",
        "properties": {
            "session": {"type": "string", "description": "without it: this one"},
            "model": {"type": "string", "description": "the session's model from now on; default: the usual one"},
            "changes_since": {"type": "string", "description": "a time: what came after it"},
        },
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE, Effect.PERSISTS}),
    restart=Restart.AGAIN,
    roles=replace(_STATUS_ROLES, says="let {model} answer in a conversation ({session}) from now on"),
    varies_by=("model",),
    variants={"": Variant(frozenset({Effect.READS_PRIVATE}), _STATUS_ROLES, Tier.READ)},
)
AGENTS_LIST = ToolSpec(
    name="agents_list",
    description="The agents that spawn may name.",
    schema={"type": "object", "properties": {}},
    tier=Tier.READ,
    effects=frozenset(),
    restart=Restart.AGAIN,
    roles=ArgumentRole(),
)
AGENTS = ToolGroup(
    "agents",
    "sub-agents, other sessions",
    (
        *(SPAWN_TOOL, SUBAGENTS, SESSIONS_YIELD, SESSIONS_LIST, SESSIONS_HISTORY, SESSIONS_SEARCH),
        *(SESSIONS_SEND, SESSION_STATUS, AGENTS_LIST),
    ),
)
