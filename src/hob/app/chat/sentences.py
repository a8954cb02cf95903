"""What the chat itself says, in English and German."""

from collections.abc import Mapping
from enum import StrEnum, auto


class Sentence(StrEnum):
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


_TEXTS: Mapping[Sentence, Mapping[str, str]] = {
    Sentence.HELLO: {"en": "Hob listens. Model: {model}.", "de": "Hob hört zu. Modell: {model}."},
    Sentence.NO_MODEL: {
        "en": "none yet; `hob onboard` finds one",
        "de": "noch keines; `hob onboard` findet eines",
    },
    Sentence.KEYS: {
        "en": "/help lists commands, Alt-Enter begins a line, Ctrl-C stops, Ctrl-D leaves.",
        "de": "/help nennt die Befehle, Alt-Enter beginnt eine Zeile, Strg-C hält an, Strg-D beendet.",
    },
    Sentence.AGAIN: {"en": "again:", "de": "noch einmal:"},
    Sentence.LEAVE_HINT: {"en": "Ctrl-C again leaves the chat", "de": "noch einmal Strg-C beendet den Chat"},
    Sentence.LEAVING: {
        "en": "Hob ends what it is doing before it leaves; Ctrl-C breaks it off, and the next start goes on with it.",
        "de": "Hob beendet erst, was es gerade tut; Strg-C bricht es ab, und der nächste Start macht weiter.",
    },
    Sentence.READY: {"en": "ready", "de": "bereit"},
    Sentence.SENDING: {"en": "sends", "de": "schickt"},
    Sentence.THINKS: {"en": "thinks {seconds} s", "de": "denkt {seconds} s"},
    Sentence.WRITES: {"en": "writes", "de": "schreibt"},
    Sentence.CALLS: {"en": "calls {name}", "de": "ruft {name}"},
    Sentence.RUNS: {"en": "{name} {seconds} s", "de": "{name} {seconds} s"},
    Sentence.STOPPING: {"en": "stopping", "de": "hält an"},
    Sentence.REJOINING: {"en": "Hob went away; waiting for it", "de": "Hob ist weg; warte darauf"},
    Sentence.ASKS: {"en": "asks you", "de": "fragt dich"},
    Sentence.PAUSED: {"en": "kept", "de": "aufgehoben"},
    Sentence.QUEUED: {"en": "{count} waiting", "de": "{count} warten"},
    Sentence.ALLOW: {"en": "Allow {id}? (y/n{further}) ", "de": "{id} erlauben? (j/n{further}) "},
    Sentence.HOW_TO_ANSWER: {
        "en": "yes or no? Type y or n, then Enter; Esc leaves it open",
        "de": "ja oder nein? Tipp j oder n, dann Enter; Esc lässt es offen",
    },
    Sentence.LEFT_OPEN: {
        "en": "left open; answer with approve:{id} or deny:{id}",
        "de": "offen gelassen; antworte mit approve:{id} oder deny:{id}",
    },
    Sentence.ANSWER_NEXT: {
        "en": "what you write next is the answer",
        "de": "was du als Nächstes schreibst, ist die Antwort",
    },
    Sentence.EARLIER: {"en": "earlier, to “{title}”:", "de": "früher, zu „{title}“:"},
    Sentence.STILL_GOING: {"en": "still going on: “{title}”", "de": "noch in Arbeit: „{title}“"},
    Sentence.ELSEWHERE: {
        "en": "{count} not seen yet in other conversations: {sessions}; `hob chat --session NAME` shows them",
        "de": "{count} noch nicht gesehen in anderen Gesprächen: {sessions}; `hob chat --session NAME` zeigt sie",
    },
    Sentence.HIDDEN_OUTPUT: {"en": "… {count} more lines", "de": "… {count} Zeilen mehr"},
    Sentence.LOST: {
        "en": "Hob went away and did not come back; your message is kept: hob ask --resume {id}",
        "de": "Hob ist weg und kam nicht wieder; deine Nachricht ist aufgehoben: hob ask --resume {id}",
    },
    Sentence.NOT_SENT: {"en": "not sent: {reason}", "de": "nicht geschickt: {reason}"},
    Sentence.NO_FILE: {
        "en": "cannot be attached: {path}: {reason}",
        "de": "lässt sich nicht anhängen: {path}: {reason}",
    },
    Sentence.ATTACH_USAGE: {
        "en": "/attach PATH puts a file or a picture into your next message",
        "de": "/attach PFAD legt eine Datei oder ein Bild in deine nächste Nachricht",
    },
    Sentence.ATTACH: {"en": "put a file into the next message", "de": "eine Datei in die nächste Nachricht legen"},
    Sentence.EXIT: {"en": "leave the chat", "de": "den Chat beenden"},
    Sentence.PASTED: {"en": "[pasted {count} lines]", "de": "[{count} Zeilen eingefügt]"},
    Sentence.PASTED_CHARACTERS: {"en": "[pasted {count} characters]", "de": "[{count} Zeichen eingefügt]"},
    Sentence.PICTURE: {"en": "[picture {name}]", "de": "[Bild {name}]"},
    Sentence.FILE: {"en": "[file {name}]", "de": "[Datei {name}]"},
    Sentence.SPENT: {"en": "spent {cost}", "de": "{cost} verbraucht"},
}


def say(sentence: Sentence, language: str, **values: object) -> str:
    """The sentence in this language, or in English where it is not known."""
    texts = _TEXTS[sentence]
    return texts.get(language, texts["en"]).format(**values)


def texts_of(sentence: Sentence) -> Mapping[str, str]:
    """The sentence in every language."""
    return _TEXTS[sentence]
