"""All of Hob's sentences by code; journals keep the code, and the English text is the message id.

A sentence is honest (an error never reads like an answer) and names a next step if there is one. Texts for the model
are English only: models read it best, and people do not see them.
"""

import math
from collections.abc import Mapping
from enum import StrEnum, auto

from hob.core.errors import BusyScope, ModelFault
from hob.core.translation.language import say as say_message
from hob.core.translation.language import translate_plural


class Sentence(StrEnum):
    """Name of a sentence."""

    MODEL_AUTH = auto()
    MODEL_BILLING = auto()
    MODEL_RATE_LIMIT = auto()
    MODEL_RATE_LIMIT_UNTIL = auto()
    MODEL_OVERLOAD = auto()
    MODEL_CONTEXT_OVERFLOW = auto()
    MODEL_BAD_REQUEST = auto()
    MODEL_NOT_FOUND = auto()
    MODEL_NETWORK = auto()
    MODEL_GARBAGE = auto()
    MODEL_CUT = auto()
    MODEL_TIMEOUT = auto()
    MODEL_EMPTY = auto()
    MODEL_FILTERED = auto()
    NO_MODEL = auto()
    MODEL_SETTINGS = auto()
    MODEL_BUDGET = auto()
    BUDGET_REACHED = auto()
    BUDGET_HELD = auto()
    BUDGET_USED_UP = auto()
    TOKENS_USED_UP = auto()
    BUDGET_NEARLY_REACHED = auto()
    BUDGET_LEFT_OUT = auto()
    PRICE_UNKNOWN = auto()
    REPLY_CUT = auto()
    CLAIM_UNBACKED = auto()
    FORM_UNMET = auto()
    ITERATION_LIMIT = auto()
    LOOP_ENDED = auto()
    RUN_TIMEOUT = auto()
    HOOK_DENIED = auto()
    CANCELLED = auto()
    CANCELLED_BY_COMMAND = auto()
    CANCELLED_WAITING = auto()
    STILL_WAITING = auto()
    ASKED_AGAIN = auto()
    BEHIND_SILENCE = auto()
    WAITS_FOR_MODEL = auto()
    WAITS_FOR_APPROVAL = auto()
    WAITS_FOR_ANSWER = auto()
    WAITS_FOR_CHILDREN = auto()
    WAITS_FOR_PROGRAM = auto()
    SUBAGENT_BEGUN = auto()
    SUBAGENT_ENDED = auto()
    SUBAGENTS_LEFT = auto()
    SET_ASIDE = auto()
    BUSY_SENDER = auto()
    BUSY_LANE = auto()
    BUSY_TOTAL = auto()
    BUSY_SELF = auto()
    STOPPING = auto()
    PAUSED = auto()
    STORE_FULL = auto()
    STORE_TROUBLE = auto()
    TOO_LONG = auto()
    EMPTY_MESSAGE = auto()
    COMMAND_FAILED = auto()
    INTERRUPTED = auto()
    STORE_WAITS = auto()
    PROMPT_GUARD_WARNED = auto()
    STAND_IN_AUTH = auto()
    STAND_IN_BILLING = auto()
    STAND_IN_RATE_LIMIT = auto()
    STAND_IN_OVERLOAD = auto()
    STAND_IN_NETWORK = auto()
    STAND_IN_TIMEOUT = auto()
    STAND_IN_UNUSABLE = auto()
    STAND_IN_NOT_FOUND = auto()
    STAND_IN_BAD_REQUEST = auto()
    STAND_IN_SETTINGS = auto()
    CLI_TOOLS_REFUSED = auto()
    MESSAGE_SHORTENED = auto()
    REMEMBERED = auto()
    SUMMARY_OUTLINED = auto()
    OBEYED_CHANGED = auto()
    TAKEN_BACK = auto()
    UNCHECKED = auto()
    OUTBOX_LATE = auto()


ENGLISH: Mapping[Sentence, str] = {
    Sentence.MODEL_AUTH: (
        "The model's server refused access, so there is no answer.\n{detail}\nFix this, then send your message again."
    ),
    Sentence.MODEL_BILLING: (
        "The account at the model's provider has no credit left, so there is no answer.\n{detail}\n"
        "Top it up or choose another model with `/model`."
    ),
    Sentence.MODEL_RATE_LIMIT: (
        "The model's server takes no more requests for the moment, so there is no answer.\n{detail}\n"
        "Try again in a minute."
    ),
    Sentence.MODEL_RATE_LIMIT_UNTIL: (
        "The model's server takes no more requests for the moment, so there is no answer.\n{detail}\n"
        "Try again in {wait}."
    ),
    Sentence.MODEL_OVERLOAD: (
        "The model's server is overloaded or broken right now, so there is no answer.\n{detail}\nTry again in a moment."
    ),
    Sentence.MODEL_CONTEXT_OVERFLOW: (
        "This is more text than the model can take, even with the history cut, so there is no answer.\n{detail}\n"
        "Send less at once, or begin afresh with `/new`."
    ),
    Sentence.MODEL_BAD_REQUEST: (
        "The model's server did not accept the request, so there is no answer.\n{detail}\n"
        "If it happens again, choose another model with `/model` or begin afresh with `/new`."
    ),
    Sentence.MODEL_NOT_FOUND: (
        "The server does not have the model that was asked for, so there is no answer.\n{detail}\n"
        "Choose another with `/model` or `hob config set model.name NAME`."
    ),
    Sentence.MODEL_NETWORK: (
        "The model's server cannot be reached, so there is no answer.\n{detail}\n"
        "When it can be reached, send your message again."
    ),
    Sentence.MODEL_GARBAGE: (
        "What the server sent is not a model's answer.\n{detail}\nIf it happens again, choose another model with "
        "`/model`."
    ),
    Sentence.MODEL_CUT: (
        "The connection broke in the middle of the answer, so there is none.\n{detail}\nSend your message again."
    ),
    Sentence.MODEL_TIMEOUT: (
        "The model stayed silent for too long, so there is no answer.\n{detail}\nSend your message again."
    ),
    Sentence.MODEL_EMPTY: "The model's answer was empty.\n{detail}\nSend your message again, perhaps in other words.",
    Sentence.MODEL_FILTERED: (
        "The provider's content filter withheld the answer.\n{detail}\nAsk in other words, or choose another model "
        "with `/model`."
    ),
    Sentence.NO_MODEL: (
        "There is no answer yet, and your message is kept: {detail}.\n"
        "Once a model is connected, `hob retry {id}` answers this message, and `hob retry` all that were kept."
    ),
    Sentence.MODEL_SETTINGS: (
        "The model's settings are wrong, so there is no answer.\n{detail}\nFix them (`hob config check` helps). Then "
        "run `hob secrets reload`, and `hob retry {id}` to get your answer."
    ),
    Sentence.BUDGET_REACHED: (
        "I stopped before spending: `{key}` is ${limit}, ${spent} of it is spent, and the next answer may cost "
        "${worst}. Raise the limit with `hob config set {setting} DOLLARS`, or wait."
    ),
    Sentence.BUDGET_HELD: (
        "I stopped before spending: `{key}` is ${limit}, ${spent} of it is spent, ${held} is held back for "
        "answers under way, and the next answer may cost ${worst}. Wait for those answers, or raise the limit with "
        "`hob config set {setting} DOLLARS`."
    ),
    Sentence.BUDGET_USED_UP: (
        "I stopped before spending: `{key}` is ${limit}, and nothing of it is left (${spent} spent, ${held} held "
        "back). Raise the limit with `hob config set {setting} DOLLARS`, or wait."
    ),
    Sentence.TOKENS_USED_UP: (
        "I stopped before asking: `spending.daily_tokens` is {limit}, and {spent} tokens were used today. Raise the "
        "limit with `hob config set --now spending.daily_tokens NUMBER`, or wait until tomorrow."
    ),
    Sentence.BUDGET_NEARLY_REACHED: "${spent} of the ${limit} of `{key}` are spent. `hob usage` shows on what.",
    Sentence.BUDGET_LEFT_OUT: (
        "{model} is not asked: ${left} of the ${limit} of `{key}` are left, too little for its answer."
    ),
    Sentence.MODEL_BUDGET: "The spending limit is reached, so there is no answer ({detail}). See `/usage`.",
    Sentence.PRICE_UNKNOWN: (
        "I did not ask {model}: its price is unknown, and `spending.on_unknown` says refuse. "
        "Set it under `model.prices`, or allow unknown prices."
    ),
    Sentence.REPLY_CUT: "[The answer was cut off here at the length limit. Say “go on” for the rest.]",
    Sentence.FORM_UNMET: "The model did not answer in the form that was asked for: {problem}.",
    Sentence.CLAIM_UNBACKED: "[Unconfirmed: “{claim}”. No tool did this in this turn; check before you rely on it.]",
    Sentence.ITERATION_LIMIT: (
        "I stopped after {rounds} rounds without getting done. What the tools found so far is kept; "
        "say “go on” to let me continue."
    ),
    Sentence.LOOP_ENDED: "I stopped since I was going in circles ({detail}). Tell me what to try instead.",
    Sentence.RUN_TIMEOUT: (
        "I stopped after {wait} without getting done. Say “go on” to let me continue, or ask for less at once."
    ),
    Sentence.HOOK_DENIED: "A hook stopped this: {detail}",
    Sentence.CANCELLED: "Stopped ({reason}).",
    Sentence.CANCELLED_BY_COMMAND: "Stopped.",
    Sentence.CANCELLED_WAITING: "This message was not answered: it was cancelled before its turn came ({reason}).",
    Sentence.STILL_WAITING: "Still waiting for the model ({wait} without a word).",
    Sentence.ASKED_AGAIN: "The model has sent nothing for {wait}; it is asked again, together with the new message.",
    Sentence.BEHIND_SILENCE: "Your message waits: the model has sent nothing for {wait}. /stop ends that turn.",
    Sentence.WAITS_FOR_MODEL: "waits for the model's server ({detail})",
    Sentence.WAITS_FOR_APPROVAL: "waits for approval of {tool}: {reason}",
    Sentence.WAITS_FOR_CHILDREN: "Waiting for sub-agents.",
    Sentence.WAITS_FOR_PROGRAM: "Waiting for the results of the program's own tools.",
    Sentence.SUBAGENT_BEGUN: "Sub-agent “{label}” begins.",
    Sentence.SUBAGENT_ENDED: "Sub-agent “{label}”: {state}.",
    Sentence.SUBAGENTS_LEFT: "Sub-agents are still at work; this answer is without their results. To read them later:",
    Sentence.WAITS_FOR_ANSWER: "waits for an answer ({id})",
    Sentence.SET_ASIDE: (
        "Hob stopped unexpectedly three times while working on this message, so it was quarantined. "
        "`hob retry {id}` tries it once more."
    ),
    Sentence.BUSY_SENDER: "You have too many messages waiting; this one was not taken. Try again in {wait}.",
    Sentence.BUSY_LANE: (
        "Too much is waiting in this conversation; this message was not taken. Try again in {wait}, or `/stop`."
    ),
    Sentence.BUSY_TOTAL: "Hob has too much to do; this message was not taken. Try again in {wait}.",
    Sentence.BUSY_SELF: (
        "Hob has made too many messages for itself within the hour; this one was not taken. Try again in {wait}."
    ),
    Sentence.STOPPING: "Hob is shutting down; this message was not taken. Send it again in a moment.",
    Sentence.PAUSED: "Kept, but this conversation is paused; `/resume` continues it.",
    Sentence.STORE_FULL: (
        "The disk is full or not writable; this message was not taken. Free some space and send it again."
    ),
    Sentence.STORE_TROUBLE: "The database cannot be used ({detail}); this message was not taken. See `hob status`.",
    Sentence.TOO_LONG: (
        "This message is too long ({length} characters, at most {limit}); it was not taken. Send it in parts."
    ),
    Sentence.EMPTY_MESSAGE: "There is nothing in this message.",
    Sentence.COMMAND_FAILED: "The command /{name} failed because of a defect in Hob; the log says more.",
    Sentence.INTERRUPTED: "a newer message came in",
    Sentence.STORE_WAITS: (
        "Kept, but the database cannot be written right now. Hob continues when it can. See `hob status`."
    ),
    Sentence.PROMPT_GUARD_WARNED: (
        "This went to the model's provider with {kinds} in it; `[prompt_guard]` in the settings can prevent it."
    ),
    Sentence.STAND_IN_AUTH: "Access to {model} was refused, so {other} answers. `hob doctor` says why.",
    Sentence.STAND_IN_BILLING: "The account for {model} has no credit left, so {other} answers.",
    Sentence.STAND_IN_RATE_LIMIT: "{model} takes no more requests for the moment, so {other} answers.",
    Sentence.STAND_IN_OVERLOAD: "{model} is overloaded or broken right now, so {other} answers.",
    Sentence.STAND_IN_NETWORK: "{model} cannot be reached, so {other} answers.",
    Sentence.STAND_IN_TIMEOUT: "{model} stayed silent for too long, so {other} answers.",
    Sentence.STAND_IN_UNUSABLE: "{model} gave no usable answer, so {other} answers.",
    Sentence.STAND_IN_NOT_FOUND: (
        "Its server does not have {model}, so {other} answers. Choose another model with `/model`."
    ),
    Sentence.STAND_IN_BAD_REQUEST: "{model} did not accept the request, so {other} answers.",
    Sentence.STAND_IN_SETTINGS: (
        "The settings of {model} are wrong, so {other} answers. `hob config check` shows what is wrong."
    ),
    Sentence.CLI_TOOLS_REFUSED: "{model} reached for tools of its own ({tools}), which it does not have here.",
    Sentence.REMEMBERED: "Remembered of what you said: {facts}. Wrong? `/memory undo {id}`",
    Sentence.MESSAGE_SHORTENED: (
        "{model} has no room for the whole message ({length} characters): it read only its beginning and end. "
        "A model with more room (`/model`) can read all of it."
    ),
    Sentence.SUMMARY_OUTLINED: (
        "The model could not summarise the older messages of this conversation; it is shown how each of them "
        "began. Choose a model for summaries with `hob config set model.tasks.summary NAME`."
    ),
    Sentence.OBEYED_CHANGED: (
        "A command changed files that programs outside of the sandbox run or follow: {paths}. Look at it before you "
        "use that folder yourself; `/undo files` puts it back."
    ),
    Sentence.TAKEN_BACK: (
        "A command wrote what would make git run a program outside of the sandbox: {paths}. It was taken back."
    ),
    Sentence.UNCHECKED: (
        "What a command wrote in {paths} could not be checked, and git may run programs by it. Do not use git there "
        "until another command has run without this warning; Hob's log says what is wrong."
    ),
    Sentence.OUTBOX_LATE: (
        "Replies to {channel} have been waiting for {wait} to be delivered{why}. Hob keeps trying; `hob status` shows "
        "them."
    ),
}

FAULT_SENTENCES: Mapping[ModelFault, Sentence] = {
    ModelFault.AUTH: Sentence.MODEL_AUTH,
    ModelFault.BILLING: Sentence.MODEL_BILLING,
    ModelFault.RATE_LIMIT: Sentence.MODEL_RATE_LIMIT,
    ModelFault.OVERLOAD: Sentence.MODEL_OVERLOAD,
    ModelFault.CONTEXT_OVERFLOW: Sentence.MODEL_CONTEXT_OVERFLOW,
    ModelFault.BAD_REQUEST: Sentence.MODEL_BAD_REQUEST,
    ModelFault.NOT_FOUND: Sentence.MODEL_NOT_FOUND,
    ModelFault.NETWORK: Sentence.MODEL_NETWORK,
    ModelFault.GARBAGE: Sentence.MODEL_GARBAGE,
    ModelFault.CUT: Sentence.MODEL_CUT,
    ModelFault.TIMEOUT: Sentence.MODEL_TIMEOUT,
    ModelFault.EMPTY: Sentence.MODEL_EMPTY,
    ModelFault.FILTERED: Sentence.MODEL_FILTERED,
    ModelFault.NOT_CONFIGURED: Sentence.NO_MODEL,
    ModelFault.SETTINGS: Sentence.MODEL_SETTINGS,
    ModelFault.BUDGET: Sentence.MODEL_BUDGET,
}
"""Messages for failed model calls."""

FALLBACK_SENTENCES: Mapping[ModelFault, Sentence] = {
    ModelFault.AUTH: Sentence.STAND_IN_AUTH,
    ModelFault.BILLING: Sentence.STAND_IN_BILLING,
    ModelFault.RATE_LIMIT: Sentence.STAND_IN_RATE_LIMIT,
    ModelFault.OVERLOAD: Sentence.STAND_IN_OVERLOAD,
    ModelFault.NETWORK: Sentence.STAND_IN_NETWORK,
    ModelFault.TIMEOUT: Sentence.STAND_IN_TIMEOUT,
    ModelFault.CUT: Sentence.STAND_IN_UNUSABLE,
    ModelFault.GARBAGE: Sentence.STAND_IN_UNUSABLE,
    ModelFault.EMPTY: Sentence.STAND_IN_UNUSABLE,
    ModelFault.NOT_FOUND: Sentence.STAND_IN_NOT_FOUND,
    ModelFault.BAD_REQUEST: Sentence.STAND_IN_BAD_REQUEST,
    ModelFault.SETTINGS: Sentence.STAND_IN_SETTINGS,
    ModelFault.NOT_CONFIGURED: Sentence.STAND_IN_SETTINGS,
}
"""Messages for an answer by another model (`other`) than the requested one (`model`)."""

BUSY_SENTENCES: Mapping[BusyScope, Sentence] = {
    BusyScope.SENDER: Sentence.BUSY_SENDER,
    BusyScope.LANE: Sentence.BUSY_LANE,
    BusyScope.TOTAL: Sentence.BUSY_TOTAL,
    BusyScope.SELF: Sentence.BUSY_SELF,
}
"""Messages for full queues."""


def format_duration(seconds: float, language: str = "en") -> str:
    """Format a duration, rounded up: at least one second, minutes from 120 seconds, hours from 120 minutes.

    Exactly one minute or hour is written as such.
    """
    left = max(1, math.ceil(seconds))
    if left >= 7200 or left == 3600:
        count = math.ceil(left / 3600)
        unit = translate_plural("{count} hour", "{count} hours", count, language)
    elif left >= 120 or left == 60:
        count = math.ceil(left / 60)
        unit = translate_plural("{count} minute", "{count} minutes", count, language)
    else:
        count = left
        unit = translate_plural("{count} second", "{count} seconds", count, language)
    return unit.format(count=count)


def say_stopped(reason: str, language: str = "en") -> str:
    """Return the message that a turn was stopped and why; `/stop` needs no reason."""
    return say(Sentence.CANCELLED_BY_COMMAND if reason.startswith("/") else Sentence.CANCELLED, language, reason=reason)


def say(sentence: Sentence, language: str = "en", **values: object) -> str:
    """Return the sentence in this language with filled placeholders. Raises KeyError for a missing value."""
    return say_message(language, ENGLISH[sentence], **values)
