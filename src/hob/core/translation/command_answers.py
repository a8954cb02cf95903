"""Answers of slash commands by code; all other messages are in `sentences`."""

from collections.abc import Mapping
from enum import StrEnum, auto

from hob.core.translation.language import say


class Answer(StrEnum):
    """Name of an answer."""

    HELP = auto()
    HELP_LINE = auto()
    HELP_ANSWERS = auto()
    UNKNOWN = auto()
    UNKNOWN_NEAR = auto()
    STATUS = auto()
    STATUS_FOR_APPROVAL = auto()
    STATUS_FOR_ANSWER = auto()
    STATUS_PAUSED = auto()
    STATUS_HALTED = auto()
    WHOAMI = auto()
    STOPPED = auto()
    NOTHING_RUNS = auto()
    FRESH = auto()
    COMPACTED = auto()
    NOT_COMPACTED = auto()
    COMPACTION_UNDONE = auto()
    NO_COMPACTION = auto()
    TURN_UNDONE = auto()
    NOTHING_TO_UNDO = auto()
    TURN_CHANGED_FILES = auto()
    FILES_UNDONE = auto()
    FILES_AS_BEFORE = auto()
    FILES_KEPT = auto()
    FILES_BACK = auto()
    FILES_PREVIEW = auto()
    NO_FILES_TO_UNDO = auto()
    STILL_CHANGING = auto()
    UNDO_USAGE = auto()
    MODEL = auto()
    MODEL_SET = auto()
    MODEL_DEFAULT = auto()
    NO_MODEL_NAME = auto()
    MODEL_CHAIN = auto()
    MODEL_ALIASES = auto()
    MODEL_REFUSED = auto()
    THINKING = auto()
    THINKING_SET = auto()
    THINKING_DEFAULT = auto()
    THINKING_UNKNOWN = auto()
    PERMISSION = auto()
    PERMISSION_SET = auto()
    PERMISSION_UNKNOWN = auto()
    PERMISSION_ALONE = auto()
    MEANS_READ_ONLY = auto()
    MEANS_GUARDED = auto()
    MEANS_WORKSPACE = auto()
    MEANS_FULL = auto()
    AUTONOMY = auto()
    AUTONOMY_SET = auto()
    AUTONOMY_UNKNOWN = auto()
    MEANS_SUPERVISED = auto()
    MEANS_CAUTIOUS = auto()
    MEANS_AUTONOMOUS = auto()
    AS_CONFIGURED = auto()
    APPROVAL_ALLOWED = auto()
    APPROVAL_DENIED = auto()
    USAGE = auto()
    USAGE_LINE = auto()
    LIMIT_LINE = auto()
    PRICE_UNKNOWN = auto()
    CONTEXT = auto()
    CONTEXT_LINE = auto()
    CACHED = auto()
    SESSION = auto()
    SESSION_LINE = auto()
    SESSION_SWITCHED = auto()
    SESSION_ARCHIVED = auto()
    NO_SESSION = auto()
    SESSION_TITLED = auto()
    SESSION_USAGE = auto()
    NO_TASKS = auto()
    TASKS = auto()
    TASK_LINE = auto()
    PAUSED = auto()
    RESUMED = auto()
    HALTED = auto()
    LIFTED = auto()
    CANCEL_USAGE = auto()
    CANCELLED = auto()
    NOT_CANCELLED = auto()
    QUEUE = auto()
    QUEUE_SET = auto()
    NEEDS_OWNER = auto()
    NEEDS_SCOPE = auto()


ENGLISH: Mapping[Answer, str] = {
    Answer.HELP: "Commands, answered without a model:\n{lines}",
    Answer.HELP_LINE: "  {usage}  {text}",
    Answer.HELP_ANSWERS: (
        "To answer a request for approval, write `approve:ID` or `deny:ID`. In a direct chat with only one open "
        "request, yes or no will do. `hob approvals` lists the open ones."
    ),
    Answer.UNKNOWN: (
        "Unknown command {name}. `/help` lists the commands. To send it to the model, begin with a space."
    ),
    Answer.UNKNOWN_NEAR: "Unknown command {name}. Did you mean {near}? To send it to the model, begin with a space.",
    Answer.STATUS: (
        "Hob {version}: {running} running, {waiting} waiting, {pending} replies to be sent; model {model}; "
        "database {store}."
    ),
    Answer.STATUS_FOR_APPROVAL: "Waiting for your approval: {count}. `hob approvals` shows what is asked.",
    Answer.STATUS_FOR_ANSWER: "Waiting for your answer, in the conversation where it was asked: {count}.",
    Answer.STATUS_PAUSED: "Hob continues later: {count}.",
    Answer.STATUS_HALTED: "Everything was stopped; Hob starts no work of its own until `/resume`.",
    Answer.WHOAMI: "You are {who} on {channel}; this is the conversation {session}.",
    Answer.STOPPED: "Stopping.",
    Answer.NOTHING_RUNS: "Nothing is running here.",
    Answer.FRESH: "A fresh start. What was said is kept (`hob export`), but I no longer look at it.",
    Answer.COMPACTED: (
        "Compacted: {messages} messages became a summary of {chars} characters. `/compact undo` takes it back."
    ),
    Answer.NOT_COMPACTED: "Not compacted: {reason}.",
    Answer.COMPACTION_UNDONE: "The last summary is taken back; the messages themselves show again.",
    Answer.NO_COMPACTION: "No summary to undo.",
    Answer.TURN_UNDONE: "Taken back: “{text}” and its answer. They are kept but no longer shown to the model.",
    Answer.NOTHING_TO_UNDO: "Nothing to undo.",
    Answer.TURN_CHANGED_FILES: "It changed files, which are left as they are:{files}\n`{command}` puts them back.",
    Answer.FILES_UNDONE: "As they were before “{text}”:{files}",
    Answer.FILES_AS_BEFORE: "All files are as they were before “{text}”.",
    Answer.FILES_KEPT: "Left as they are:{files}",
    Answer.FILES_BACK: "`{command}` takes this back.",
    Answer.FILES_PREVIEW: "To be as before “{text}”, this would change (`/undo files {turn}` does it):\n\n{diff}",
    Answer.NO_FILES_TO_UNDO: "Nothing here has changed files that can be restored.",
    Answer.STILL_CHANGING: "Still running in the background, and able to change files again: {names}.",
    Answer.UNDO_USAGE: (
        "`/undo` takes the last turn's words back, `/undo files` what it changed in files, `/undo files preview` shows "
        "that first."
    ),
    Answer.MODEL: "The model of this conversation is {model}.",
    Answer.MODEL_SET: "From now on this conversation uses {model}.",
    Answer.MODEL_DEFAULT: "From now on this conversation uses the configured model, {model}.",
    Answer.NO_MODEL_NAME: "none",
    Answer.MODEL_CHAIN: "If it does not answer: {models}.",
    Answer.MODEL_ALIASES: "Names of your own: {names}.",
    Answer.MODEL_REFUSED: "Nothing changed: {reason}",
    Answer.THINKING: "Thinking level of this conversation: {level}. Choose {levels} or default.",
    Answer.THINKING_SET: "Thinking level: {level}.",
    Answer.THINKING_DEFAULT: "Thinking level: as in the settings.",
    Answer.THINKING_UNKNOWN: "There is no level {wanted}; it stays {level}. Choose {levels} or default.",
    Answer.PERMISSION: "This conversation permits: {word}.\n{lines}",
    Answer.PERMISSION_SET: "From now on this conversation permits: {word}.",
    Answer.PERMISSION_UNKNOWN: "There is no mode {wanted}; it stays: {word}.\n{lines}",
    Answer.PERMISSION_ALONE: (
        "Nothing changed: `/permission {word}` counts only where you type it yourself, in a chat with me alone."
    ),
    Answer.MEANS_READ_ONLY: "reads and looks things up; changes, runs and sends nothing",
    Answer.MEANS_GUARDED: (
        "also does what can be undone and runs in the sandbox; asks before risky commands, and before what is final or "
        "goes to somebody unless you named it"
    ),
    Answer.MEANS_WORKSPACE: "as guarded; where autonomous, what is final or risky needs no asking",
    Answer.MEANS_FULL: "what is final or risky needs no asking, and where autonomous nor does sending",
    Answer.AUTONOMY: "How much this conversation does without asking: {word}.\n{lines}",
    Answer.AUTONOMY_SET: "How much this conversation does without asking, from now on: {word}.",
    Answer.AUTONOMY_UNKNOWN: "There is no level {wanted}; it stays: {word}.\n{lines}",
    Answer.MEANS_SUPERVISED: "asks before all but reading and looking up",
    Answer.MEANS_CAUTIOUS: "does what can be undone; the rest as the mode says, see `/permission`",
    Answer.MEANS_AUTONOMOUS: "asks as little as the mode lets it, see `/permission`",
    Answer.AS_CONFIGURED: "as the settings say",
    Answer.APPROVAL_ALLOWED: "Allowed: {tool}.",
    Answer.APPROVAL_DENIED: "Not allowed: {tool}.",
    Answer.USAGE: "Spent:\n{lines}",
    Answer.USAGE_LINE: "  {scope}: {cost}, {calls} calls, {input} tokens in ({cached} cached, {rate}), {output} out",
    Answer.LIMIT_LINE: "  {key}: ${spent} of ${limit}, ${left} left",
    Answer.PRICE_UNKNOWN: "{cost} + {calls} calls of unknown price",
    Answer.CONTEXT: "The next request holds about {tokens} tokens of {limit}:\n{lines}",
    Answer.CONTEXT_LINE: "  {name}: {bytes} bytes, {tokens} tokens{cached}",
    Answer.CACHED: " (cached)",
    Answer.SESSION: "This is the conversation {session}. Conversations here:\n{lines}",
    Answer.SESSION_LINE: "  {mark} {key}  {title} ({entries} messages)",
    Answer.SESSION_SWITCHED: "This chat continues in the conversation {session}.",
    Answer.SESSION_ARCHIVED: (
        "The conversation {session} is archived. A message to it or `/session switch {session}` restores it."
    ),
    Answer.NO_SESSION: "There is no conversation {session}; `/session list` shows them.",
    Answer.SESSION_TITLED: "This conversation is now called “{title}”.",
    Answer.SESSION_USAGE: (
        "Use `/session`, `/session list`, `/session switch NAME`, `/session archive [NAME]` or `/session title TEXT`."
    ),
    Answer.NO_TASKS: "No open tasks.",
    Answer.TASKS: "Open tasks:\n{lines}",
    Answer.TASK_LINE: "  {id} {state}: {title}",
    Answer.PAUSED: "Paused. New messages are kept; `/resume` continues.",
    Answer.RESUMED: "Continuing.",
    Answer.HALTED: (
        "Everything is stopped ({count} ended). Hob starts no work of its own until `/resume`, even after a restart."
    ),
    Answer.LIFTED: "Hob continues its own work.",
    Answer.CANCEL_USAGE: "Say which: `/cancel ID`; `/tasks` lists them.",
    Answer.CANCELLED: "{id} is cancelled.",
    Answer.NOT_CANCELLED: "There is no open task {id}; `/tasks` lists them.",
    Answer.QUEUE: (
        "Queue mode: {mode}. A message that arrives while I work, by mode:\n"
        "  steer      joins the running turn\n"
        "  followup   is answered afterwards\n"
        "  collect    is answered afterwards, together with the others that waited\n"
        "  interrupt  stops the running turn\n"
        "  default    as bus.queue_mode says; steer unless you changed it"
    ),
    Answer.QUEUE_SET: "Queue mode is now {mode}.",
    Answer.NEEDS_OWNER: "Only the owner may do that.",
    Answer.NEEDS_SCOPE: (
        "The token this came with does not allow that: it needs the scope `{scope}`. `hob token new` makes one."
    ),
}


def answer(which: Answer, language: str = "en", /, **values: object) -> str:
    """Return the answer in this language. Raises KeyError for a missing placeholder."""
    return say(language, ENGLISH[which], **values)
