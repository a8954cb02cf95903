"""What the chat itself says, in English and German."""

from collections.abc import Mapping
from enum import StrEnum, auto


class ChatSentence(StrEnum):
    """The name of one sentence."""

    HELLO = auto()
    NO_MODEL = auto()
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
    REJOINING = auto()
    ASKS = auto()
    PAUSED = auto()
    QUEUED = auto()
    ALLOW = auto()
    HOW_TO_ANSWER = auto()
    LEFT_OPEN = auto()
    ANSWER_NEXT = auto()
    EARLIER = auto()
    STILL_GOING = auto()
    ELSEWHERE = auto()
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


_TEXTS: Mapping[ChatSentence, Mapping[str, str]] = {
    ChatSentence.HELLO: {"en": "Hob listens. Model: {model}.", "de": "Hob hört zu. Modell: {model}."},
    ChatSentence.NO_MODEL: {
        "en": "none yet; `hob onboard` finds one",
        "de": "noch keines; `hob onboard` findet eines",
    },
    ChatSentence.KEYS: {
        "en": "/help lists commands, Alt-Enter begins a line, Ctrl-C stops, Ctrl-D leaves.",
        "de": "/help nennt die Befehle, Alt-Enter beginnt eine Zeile, Strg-C hält an, Strg-D beendet.",
    },
    ChatSentence.AGAIN: {"en": "again:", "de": "noch einmal:"},
    ChatSentence.LEAVE_HINT: {"en": "Ctrl-C again leaves the chat", "de": "noch einmal Strg-C beendet den Chat"},
    ChatSentence.LEAVING: {
        "en": "Hob ends what it is doing before it leaves; Ctrl-C breaks it off, and the next start goes on with it.",
        "de": "Hob beendet erst, was es gerade tut; Strg-C bricht es ab, und der nächste Start macht weiter.",
    },
    ChatSentence.READY: {"en": "ready", "de": "bereit"},
    ChatSentence.SENDING: {"en": "sends", "de": "schickt"},
    ChatSentence.THINKS: {"en": "thinks {seconds} s", "de": "denkt {seconds} s"},
    ChatSentence.WRITES: {"en": "writes", "de": "schreibt"},
    ChatSentence.CALLS: {"en": "calls {name}", "de": "ruft {name}"},
    ChatSentence.RUNS: {"en": "{name} {seconds} s", "de": "{name} {seconds} s"},
    ChatSentence.STOPPING: {"en": "stopping", "de": "hält an"},
    ChatSentence.REJOINING: {"en": "Hob went away; waiting for it", "de": "Hob ist weg; warte darauf"},
    ChatSentence.ASKS: {"en": "asks you", "de": "fragt dich"},
    ChatSentence.PAUSED: {"en": "kept", "de": "aufgehoben"},
    ChatSentence.QUEUED: {"en": "{count} waiting", "de": "{count} warten"},
    ChatSentence.ALLOW: {"en": "Allow {id}? (y/n{further}) ", "de": "{id} erlauben? (j/n{further}) "},
    ChatSentence.HOW_TO_ANSWER: {
        "en": "yes or no? Type y or n, then Enter; Esc leaves it open",
        "de": "ja oder nein? Tipp j oder n, dann Enter; Esc lässt es offen",
    },
    ChatSentence.LEFT_OPEN: {
        "en": "left open; answer with approve:{id} or deny:{id}",
        "de": "offen gelassen; antworte mit approve:{id} oder deny:{id}",
    },
    ChatSentence.ANSWER_NEXT: {
        "en": "what you write next is the answer",
        "de": "was du als Nächstes schreibst, ist die Antwort",
    },
    ChatSentence.EARLIER: {"en": "earlier, to “{title}”:", "de": "früher, zu „{title}“:"},
    ChatSentence.STILL_GOING: {"en": "still going on: “{title}”", "de": "noch in Arbeit: „{title}“"},
    ChatSentence.ELSEWHERE: {
        "en": "{count} not seen yet in other conversations: {sessions}; `hob chat --session NAME` shows them",
        "de": "{count} noch nicht gesehen in anderen Gesprächen: {sessions}; `hob chat --session NAME` zeigt sie",
    },
    ChatSentence.HIDDEN_OUTPUT: {"en": "… {count} more lines", "de": "… {count} Zeilen mehr"},
    ChatSentence.LOST: {
        "en": "Hob went away and did not come back; your message is kept: hob ask --resume {id}",
        "de": "Hob ist weg und kam nicht wieder; deine Nachricht ist aufgehoben: hob ask --resume {id}",
    },
    ChatSentence.NOT_SENT: {"en": "not sent: {reason}", "de": "nicht geschickt: {reason}"},
    ChatSentence.NO_FILE: {
        "en": "cannot be attached: {path}: {reason}",
        "de": "lässt sich nicht anhängen: {path}: {reason}",
    },
    ChatSentence.ATTACH_USAGE: {
        "en": "/attach PATH puts a file or a picture into your next message",
        "de": "/attach PFAD legt eine Datei oder ein Bild in deine nächste Nachricht",
    },
    ChatSentence.ATTACH: {"en": "put a file into the next message", "de": "eine Datei in die nächste Nachricht legen"},
    ChatSentence.EXIT: {"en": "leave the chat", "de": "den Chat beenden"},
    ChatSentence.PASTED: {"en": "[pasted {count} lines]", "de": "[{count} Zeilen eingefügt]"},
    ChatSentence.PASTED_CHARACTERS: {"en": "[pasted {count} characters]", "de": "[{count} Zeichen eingefügt]"},
    ChatSentence.PICTURE: {"en": "[picture {name}]", "de": "[Bild {name}]"},
    ChatSentence.FILE: {"en": "[file {name}]", "de": "[Datei {name}]"},
    ChatSentence.SPENT: {"en": "spent {cost}", "de": "{cost} verbraucht"},
}


def say(sentence: ChatSentence, language: str, **values: object) -> str:
    """The sentence in this language, or in English where it is not known."""
    texts = _TEXTS[sentence]
    return texts.get(language, texts["en"]).format(**values)


def texts_of(sentence: ChatSentence) -> Mapping[str, str]:
    """The sentence in every language."""
    return _TEXTS[sentence]
