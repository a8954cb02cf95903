"""Sentences of the terminal chat: greeting, hints, states and questions."""

from collections.abc import Mapping
from enum import StrEnum, auto

from hob.core.translation.language import translate


class ChatSentence(StrEnum):
    """The name of a sentence."""

    HELLO = auto()
    HELLO_PLAIN = auto()
    NO_MODEL = auto()
    MODEL_UNKNOWN = auto()
    KEYS = auto()
    AGAIN = auto()
    LEAVE_HINT = auto()
    LEAVING = auto()
    READY = auto()
    SENDING = auto()
    THINKS = auto()
    WRITES = auto()
    CALLS = auto()
    RUNS = auto()
    STOPPING = auto()
    STOPPING_PLAIN = auto()
    NOT_WAITING = auto()
    WENT_AWAY = auto()
    YES_OR_NO = auto()
    REJOINING = auto()
    ASKS = auto()
    PAUSED = auto()
    QUEUED = auto()
    ALLOW = auto()
    HOW_TO_ANSWER = auto()
    LEFT_OPEN = auto()
    ANSWER_NEXT = auto()
    EARLIER = auto()
    UNASKED = auto()
    STILL_GOING = auto()
    ELSEWHERE = auto()
    NO_COMMANDS = auto()
    HIDDEN_OUTPUT = auto()
    LOST = auto()
    NOT_SENT = auto()
    NO_FILE = auto()
    ATTACH_USAGE = auto()
    ATTACH = auto()
    EXIT = auto()
    PASTED = auto()
    PASTED_CHARACTERS = auto()
    PICTURE = auto()
    FILE = auto()
    SPENT = auto()


ENGLISH: Mapping[ChatSentence, str] = {
    ChatSentence.HELLO: "Hob is ready. Model: {model}.",
    ChatSentence.HELLO_PLAIN: "Hob is ready. /help lists commands, Ctrl-D ends. Model: {model}.",
    ChatSentence.MODEL_UNKNOWN: "not known",
    ChatSentence.STOPPING_PLAIN: "stopping; Ctrl-C again stops waiting",
    ChatSentence.NOT_WAITING: "no longer waiting; `hob ask --resume {id}` shows the answer",
    ChatSentence.WENT_AWAY: "Hob went away; your message is kept: `hob ask --resume {id}` waits for the answer",
    ChatSentence.YES_OR_NO: "yes or no? {ways}",
    ChatSentence.NO_MODEL: "none; `hob onboard` connects one",
    ChatSentence.KEYS: "/help lists commands, Alt-Enter adds a line, Ctrl-C stops, Ctrl-D leaves.",
    ChatSentence.AGAIN: "again:",
    ChatSentence.LEAVE_HINT: "Ctrl-C again leaves the chat",
    ChatSentence.LEAVING: (
        "Hob finishes its work before it leaves; Ctrl-C interrupts it, and the next start continues."
    ),
    ChatSentence.READY: "ready",
    ChatSentence.SENDING: "sending",
    ChatSentence.THINKS: "thinking {seconds} s",
    ChatSentence.WRITES: "writing",
    ChatSentence.CALLS: "calling {name}",
    ChatSentence.RUNS: "{name} {seconds} s",
    ChatSentence.STOPPING: "stopping",
    ChatSentence.REJOINING: "Hob went away; reconnecting",
    ChatSentence.ASKS: "waiting for your answer",
    ChatSentence.PAUSED: "kept",
    ChatSentence.QUEUED: "{count} waiting",
    ChatSentence.ALLOW: "Allow {id}? (y/n{further}) ",
    ChatSentence.HOW_TO_ANSWER: "yes or no? Type y or n, then Enter; Esc leaves it open",
    ChatSentence.LEFT_OPEN: "the question stays open; answer with approve:{id} or deny:{id}",
    ChatSentence.ANSWER_NEXT: "your next message is the answer",
    ChatSentence.EARLIER: "earlier, to “{title}”:",
    ChatSentence.UNASKED: "Hob reports:",
    ChatSentence.STILL_GOING: "Continuing your earlier message “{title}”",
    ChatSentence.ELSEWHERE: ("{count} unseen in other conversations: {sessions}; `hob chat --session NAME` shows them"),
    ChatSentence.NO_COMMANDS: "commands cannot run: {why}",
    ChatSentence.HIDDEN_OUTPUT: "… {count} more lines",
    ChatSentence.LOST: (
        "Hob went away and did not come back; your message is kept: `hob ask --resume {id}` waits for the answer"
    ),
    ChatSentence.NOT_SENT: "not sent: {reason}",
    ChatSentence.NO_FILE: "cannot attach {path}: {reason}",
    ChatSentence.ATTACH_USAGE: "/attach PATH adds a file or picture to your next message",
    ChatSentence.ATTACH: "add a file to the next message",
    ChatSentence.EXIT: "leave the chat",
    ChatSentence.PASTED: "[pasted {count} lines]",
    ChatSentence.PASTED_CHARACTERS: "[pasted {count} characters]",
    ChatSentence.PICTURE: "[picture {name}]",
    ChatSentence.FILE: "[file {name}]",
    ChatSentence.SPENT: "spent {cost}",
}


def say(sentence: ChatSentence, language: str, **values: object) -> str:
    """Return the sentence in this language."""
    return translate(ENGLISH[sentence], language).format_map(values)
