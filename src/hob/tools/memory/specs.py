"""Specs of the memory tools."""

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, Restart, Tier, ToolSpec

REMEMBER = ToolSpec(
    name="remember",
    description="Keep a fact for later conversations.",
    schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    tier=Tier.WRITE,
    effects=frozenset({Effect.PERSISTS}),
    restart=Restart.AGAIN,
    roles=ArgumentRole(plain=("text",)),
)
RECALL = ToolSpec(
    name="recall",
    description="Find what was remembered.",
    schema={
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}, "untrusted": {"type": "boolean"}},
        "required": ["query"],
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}),
    restart=Restart.AGAIN,
    parallel=True,
    roles=ArgumentRole(plain=("query", "limit", "untrusted")),
)
MEMORY_SEARCH = ToolSpec(
    name="memory_search",
    description="Search all that was said, read or noted, MEMORY.md and daily notes too; each result has an id.",
    schema={
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer"},
            "untrusted": {"type": "boolean"},
            "layer": {"type": "string", "description": "only conversation, tool, document, fact or observation"},
        },
        "required": ["query"],
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}),
    restart=Restart.AGAIN,
    parallel=True,
    roles=ArgumentRole(plain=("query", "limit", "untrusted", "layer")),
)
MEMORY_GET = ToolSpec(
    name="memory_get",
    description=(
        "Read one remembered item by its id, with what was said around it, or a remembered file (MEMORY.md,"
        " memory/DATE.md) from a line on."
    ),
    schema={
        "type": "object",
        "properties": {"path": {"type": "string"}, "start": {"type": "integer"}, "lines": {"type": "integer"}},
        "required": ["path"],
    },
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED}),
    restart=Restart.AGAIN,
    parallel=True,
    roles=ArgumentRole(plain=("path", "start", "lines")),
)
UPDATE_WORKING_MEMORY = ToolSpec(
    name="update_working_memory",
    description=(
        "Replace this conversation's note of aims, decisions, next steps (empty: clear it); gives "
        "the old one.\n\nWith everywhere=true it is the note for conversations that have none of "
        "their own."
    ),
    schema={
        "type": "object",
        "properties": {"content": {"type": "string"}, "everywhere": {"type": "boolean"}},
        "required": ["content"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.PERSISTS}),
    restart=Restart.AGAIN,
    roles=ArgumentRole(plain=("content", "everywhere")),
)
FACTS = ToolSpec(
    name="facts",
    description=(
        "List what is known of the owner (about: only with this word), each with its id and the words it is from."
    ),
    schema={"type": "object", "properties": {"about": {"type": "string"}}},
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE}),
    restart=Restart.AGAIN,
    parallel=True,
    roles=ArgumentRole(plain=("about",)),
)
CORRECT_FACT = ToolSpec(
    name="correct_fact",
    description=(
        "Put a fact right that the owner says is wrong; right: what is so, in their words (empty: it is not so)."
    ),
    schema={
        "type": "object",
        "properties": {"id": {"type": "string"}, "right": {"type": "string"}},
        "required": ["id"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.PERSISTS}),
    roles=ArgumentRole(things=("id",), plain=("right",), says="change what is known of you: {id} is {right}"),
)
GET_GOALS = ToolSpec(
    name="get_goals",
    description="List the goals with their days, states and evidence; closed: those too that are done or dropped.",
    schema={"type": "object", "properties": {"closed": {"type": "boolean"}}},
    tier=Tier.READ,
    effects=frozenset({Effect.READS_PRIVATE}),
    restart=Restart.AGAIN,
    parallel=True,
    roles=ArgumentRole(plain=("closed",)),
)
CREATE_GOAL = ToolSpec(
    name="create_goal",
    description="Keep a goal the owner wants to reach beyond this conversation.",
    schema={
        "type": "object",
        "properties": {"goal": {"type": "string"}, "due": {"type": "string", "description": "YYYY-MM-DD"}},
        "required": ["goal"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.PERSISTS}),
    restart=Restart.AGAIN,
    roles=ArgumentRole(plain=("goal", "due"), says="keep this goal: {goal}"),
)
UPDATE_GOAL = ToolSpec(
    name="update_goal",
    description="Note what came of a goal (evidence), that it is done or dropped, or another day.",
    schema={
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "state": {"type": "string", "enum": ["", "open", "done", "dropped"]},
            "due": {"type": "string", "description": "YYYY-MM-DD"},
            "evidence": {"type": "string"},
        },
        "required": ["id"],
    },
    tier=Tier.WRITE,
    effects=frozenset({Effect.PERSISTS}),
    restart=Restart.AGAIN,
    roles=ArgumentRole(things=("id",), plain=("state", "due", "evidence"), says="goal {id} is {state}"),
)
