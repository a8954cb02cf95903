"""Sentences for machine-visible names that have no docstring."""

from collections.abc import Mapping

from hob.core.events.timeline import EventKind
from hob.core.tools import Effect, Restart, Tier

EVENT_KINDS: Mapping[EventKind, str] = {
    EventKind.INBOUND: "a message was accepted; `name` is its channel",
    EventKind.OUTBOUND: "what a turn says; `name` is the channel, `status` says reply, error, notice or question",
    EventKind.TURN: "a whole turn, written at its end (`name` is the model), or its move (`name` is the state)",
    EventKind.MODEL: "one call of a model, with tokens and cost; `status` is `ok` or the fault",
    EventKind.TOOL: "one call of a tool, or why it was not made; the text is what it was about and, on a second line,"
    " what came of it",
    EventKind.APPROVAL: "the owner was asked, or how that ended; `status` is `asked`, `allowed`, `denied` or `expired`",
    EventKind.POLICY: "a call was not allowed; `status` is the rule, the text as a tool's",
    EventKind.STEER: "a message joined a running turn",
    EventKind.COMMAND: "a slash command was answered; `name` is the command",
    EventKind.SESSION: "a session was created, imported, titled, switched to, reset, or its rules changed: `name`",
    EventKind.SUBAGENT: "a sub-agent was begun, corrected or ended (`name`); the text names its session",
    EventKind.MEMORY: "something was remembered of what a turn said; `classification` is its item",
    EventKind.COMPACTION: "a summary stands for older messages; `name` is the reason",
    EventKind.DELIVERY: "a chunk reached its channel, could not, or waits for you",
    EventKind.SYSTEM: "Hob itself; `undo` and `redo` are files put back, `status` is `kept` where some were left;"
    " `setting` is one that was changed while Hob ran, `status` is `unset` where that was taken back;"
    " with the `status` `changed` it names what the owner changed: `memory`, `people`, `web_users`, `grants` or"
    " `repository`",
}

REASONS: Mapping[str, str] = {
    "iteration_limit": "more model calls than `agent.max_rounds`",
    "run_timeout": "longer than `agent.run_seconds`",
    "loop": "the model went in circles",
    "hook": "a hook stopped it",
    "set_aside": "Hob ended uncleanly three times while it worked on this message, at the same step",
    "failed": "anything else",
}

REFUSALS: Mapping[str, tuple[str, str]] = {
    "outdated": ("a change that is no longer what was reviewed; nothing was committed", ""),
    "unauthorized": ("no token, or a wrong one", ""),
    "missing_scope": ("a token that is not good for this", ""),
    "model_not_found": ("a model that cannot be asked", ""),
    "context_length_exceeded": ("OpenAI's API: a conversation of more characters than may come along", ""),
    "missing_csrf": ("a browser's call has the login's cookie and not its `X-CSRF-Token`", ""),
    "wrong_origin": ("a web page that may not call: `gateway.cors_origins`", ""),
    "method_not_allowed": ("another method than the route has", ""),
    "too_large": ("a body of more bytes than may be: `gateway.body_bytes`", ""),
    "not_json": ("a body that is not sent as `application/json`", ""),
    "wrong_host": ("the API by a name that is not its own: `gateway.hosts`", ""),
    "too_many_attempts": ("a new token from where many wrong ones came", "up to a minute"),
    "too_many_files": ("many files handed in, of somebody who is not you, that no message has named yet", "an hour"),
    "too_many_connections": ("a connection beyond the thousand that are held at once", "2 s"),
}

EVENTS: Mapping[str, tuple[str, str]] = {
    "accepted": ("the message is durable", '`{"id", "session", "trace_id"}`'),
    "delta": ("a piece of the answer", '`{"text"}`'),
    "reasoning": ("a piece of the model's reasoning, not part of the answer", '`{"text"}`'),
    "retracted": ("what was streamed since the last round is void; it is written anew", "`{}`"),
    "progress": (
        "a tool began or ended, the model is slow, the turn waits, a note (`remark`)",
        '`{"what", "name", "text"}`',
    ),
    "message": (
        "Hob sent a message beside the answer: files, choices, a poll",
        '`{"message"}`, one of the `messages` of `GET /chat/{id}`',
    ),
    "question": (
        "people are asked and the turn waits; the stream goes on when they have answered",
        "as `GET /chat/{id}`, and `asked`: each approval as `GET /approvals/{id}` tells it",
    ),
    "result": ("last: what became of it", "as `GET /chat/{id}`"),
    "error": ("last: nothing was accepted, or it could not be followed", '`{"error": {"code", "message"}}`'),
}

EFFECTS: Mapping[Effect, str] = {
    Effect.READS_PRIVATE: "reads what is the owner's",
    Effect.READS_UNTRUSTED: "reads what others wrote",
    Effect.WRITES: "changes something, so that it can be undone",
    Effect.WRITES_FINALLY: "changes something that cannot be brought back",
    Effect.COMMUNICATES: "sends something to somebody",
    Effect.PERSISTS: "writes what counts as the owner's instruction in later conversations",
    Effect.EXECUTES: "runs a command",
}

TIERS: Mapping[Tier, str] = {Tier.READ: "reads", Tier.WRITE: "writes", Tier.HIGH_RISK: "is high risk"}

RESTARTS: Mapping[Restart, str] = {
    Restart.AGAIN: "it is made again",
    Restart.NEVER: "it is not made again, and the model is told so",
    Restart.RESUME: "it continues what it began, else it is not made again, and the model is told so",
}
