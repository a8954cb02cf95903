"""Names of stored codes for people; journals and `--json` keep the codes."""

from collections.abc import Mapping

from hob.core.translation.language import translatable

STATE_WORDS: Mapping[str, str] = {
    "done": translatable("done"),
    "sent": translatable("sent"),
    "ok": translatable("ok"),
    "running": translatable("running"),
    "ready": translatable("ready"),
    "created": translatable("begun"),
    "pending": translatable("waiting"),
    "waiting": translatable("waiting"),
    "parked": translatable("waiting"),
    "failed": translatable("failed"),
    "set_aside": translatable("quarantined"),
    "dead": translatable("given up"),
    "cancelled": translatable("stopped"),
}
"""Names of states."""
NO_MODEL = translatable("no model is connected")
"""The state in which no model is available, as a phrase used in several places."""
FAULT_WORDS: Mapping[str, str] = {
    "auth": translatable("the model's key was refused"),
    "billing": translatable("the model's account has no credit"),
    "rate_limit": translatable("the model's rate limit was reached"),
    "overload": translatable("the model's server is overloaded"),
    "network": translatable("the model's server cannot be reached"),
    "timeout": translatable("the model's server did not answer in time"),
    "model_not_found": translatable("the server does not know this model"),
    "context_overflow": translatable("too long for the model"),
    "bad_request": translatable("the model's server refused the request"),
    "garbage": translatable("the model's answer was unreadable"),
    "cut_stream": translatable("the model's answer broke off"),
    "empty_answer": translatable("the model gave no answer"),
    "filtered": translatable("the model's provider blocked it"),
    "no_model": NO_MODEL,
    "model_settings": translatable("the model's settings are wrong"),
    "budget": translatable("the budget does not allow it"),
    "quarantined": translatable("quarantined"),
    "interrupted": translatable("interrupted"),
}
"""Reasons why a model gave no answer, by fault code."""
APPROVAL_WORDS: Mapping[str, str] = {
    "open": translatable("open"),
    "allowed": translatable("allowed"),
    "denied": translatable("denied"),
    "expired": translatable("expired"),
    "used": translatable("used"),
    "once": translatable("once"),
    "session": translatable("in this conversation"),
    "always": translatable("always"),
    "local:owner": translatable("you"),
}
"""Names of approval states and scopes, and of the terminal user who answered."""
ROLE_WORDS: Mapping[str, str] = {
    "user": translatable("user"),
    "assistant": translatable("Hob"),
    "tool": translatable("tool"),
}
"""Names of the speakers in a conversation."""
CLASS_WORDS: Mapping[str, str] = {
    "owner": translatable("owner"),
    "member": translatable("member"),
    "stranger": translatable("stranger"),
}
"""Names of sender classes."""

PART_WORDS: Mapping[str, str] = {
    "words": translatable("same words"),
    "coverage": translatable("share of your words found"),
    "meaning": translatable("similar meaning"),
    "phrase": translatable("same phrase"),
    "session": translatable("same conversation"),
    "speaker": translatable("the speaker you named"),
    "question": translatable("asks instead of telling"),
    "bare question": translatable("is only a question"),
    "no longer so": translatable("is no longer so"),
    "own past": translatable("you telling of your past"),
    "liking": translatable("you telling what you like"),
    "assistant": translatable("said by Hob"),
    "time": translatable("tells when"),
    "name": translatable("names somebody"),
    "asked": translatable("is what you ask for"),
    "day": translatable("from the day you named"),
    "recency": translatable("newness"),
    "importance": translatable("importance"),
}
"""Names of the parts of a memory's score."""
