"""What the code has no docstring for: one sentence for each name that machines see."""

from collections.abc import Mapping

from hob.core.timeline import EventKind
from hob.core.tools import Effect, Restart, Tier

EVENT_KINDS: Mapping[EventKind, str] = {
    EventKind.INBOUND: "a message was accepted; `name` is its channel",
    EventKind.OUTBOUND: "what a turn says; `name` is the channel, `status` says reply, error, notice or question",
    EventKind.TURN: "a whole turn, written at its end (`name` is the model), or its move (`name` is the state)",
    EventKind.MODEL: "one call of a model, with tokens and cost; `status` is `ok` or the fault",
    EventKind.TOOL: "one call of a tool, or why it was not made",
    EventKind.APPROVAL: "the owner was asked",
    EventKind.POLICY: "a call was not allowed; `status` is the rule",
    EventKind.STEER: "a message joined a running turn",
    EventKind.COMMAND: "a slash command was answered; `name` is the command",
    EventKind.SESSION: "a session was created, titled, switched to, reset, or its rules changed; `name` says which",
    EventKind.COMPACTION: "a summary stands for older messages; `name` is the reason",
    EventKind.DELIVERY: "a chunk reached its channel, could not, or waits for you",
    EventKind.SYSTEM: "Hob itself; `undo` and `redo` are files put back, `status` is `kept` where some were left",
}

REASONS: Mapping[str, str] = {
    "iteration_limit": "more model calls than `agent.max_rounds`",
    "run_timeout": "longer than `agent.run_seconds`",
    "loop": "the model went in circles",
    "hook": "a hook stopped it",
}

ANSWER_FIELDS: Mapping[str, str] = {
    "id": "the message's id; also its task's",
    "session": "the session it belongs to",
    "trace_id": "what `hob timeline --trace` takes",
    "state": "`waiting`, or the state of its turn (see [states](states.md#turn))",
    "reply": "the answer, and nothing else; null while there is none and where there is an error",
    "notes": "lines about the answer that are no part of it, e.g. that another model gave it; often none",
    "usage": "tokens and dollars of its turn; `cost_usd` is null where a price is unknown",
    "error": "only where it failed: `code` and `message` ([errors](errors.md))",
    "question": "only while people are asked: what, and how to answer ([how](../how-to/answer-questions.md))",
    "approvals": "only beside `question`: the ids for `/approvals/{id}`; none where it is answered in words",
    "merged_into": "only where it joined another message's turn: that message's id",
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
    Effect.PERSISTS: "writes what later turns read as instruction",
    Effect.EXECUTES: "runs a command",
}

TIERS: Mapping[Tier, str] = {Tier.READ: "reads", Tier.WRITE: "writes", Tier.HIGH_RISK: "is high risk"}

RESTARTS: Mapping[Restart, str] = {
    Restart.AGAIN: "it is made again",
    Restart.NEVER: "it is not made again, and the model is told so",
}
