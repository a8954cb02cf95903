"""Every sentence Hob itself says, in English and German.

A sentence is honest (an error never reads like an answer) and names a next step where there is one. What the model is
told is English only: models read it best, and no person does.
"""

import math
from collections.abc import Mapping
from enum import StrEnum, auto

from hob.core.errors import BusyScope, ModelFault

LANGUAGES = ("en", "de")


class Sentence(StrEnum):
    """The name of one sentence."""

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
    BUDGET_NEARLY_REACHED = auto()
    BUDGET_LEFT_OUT = auto()
    PRICE_UNKNOWN = auto()
    REPLY_CUT = auto()
    ITERATION_LIMIT = auto()
    LOOP_ENDED = auto()
    RUN_TIMEOUT = auto()
    HOOK_DENIED = auto()
    CANCELLED = auto()
    CANCELLED_WAITING = auto()
    STILL_WAITING = auto()
    ASKED_AGAIN = auto()
    WAITS_FOR_MODEL = auto()
    WAITS_FOR_APPROVAL = auto()
    WAITS_FOR_ANSWER = auto()
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
    SUMMARY_OUTLINED = auto()
    OBEYED_CHANGED = auto()
    TAKEN_BACK = auto()
    OUTBOX_LATE = auto()


_TEXTS: Mapping[Sentence, Mapping[str, str]] = {
    Sentence.MODEL_AUTH: {
        "en": "The model's server refused the key, so there is no answer.\n{detail}\n"
        "Put that right, then send your message again.",
        "de": "Der Server des Modells hat den Schlüssel abgelehnt, darum gibt es keine Antwort.\n{detail}\n"
        "Bring das in Ordnung und schick die Nachricht noch einmal.",
    },
    Sentence.MODEL_BILLING: {
        "en": "The account at the model's provider has no credit left, so there is no answer.\n{detail}\n"
        "Top it up or choose another model with `/model`.",
        "de": "Das Konto beim Anbieter des Modells hat kein Guthaben mehr, darum gibt es keine Antwort.\n{detail}\n"
        "Lade es auf oder wähle mit `/model` ein anderes Modell.",
    },
    Sentence.MODEL_RATE_LIMIT: {
        "en": "The model's server takes no more requests for the moment, so there is no answer.\n{detail}\n"
        "Try again in a minute.",
        "de": "Der Server des Modells nimmt gerade keine Anfragen mehr an, darum gibt es keine Antwort.\n{detail}\n"
        "Versuch es in einer Minute noch einmal.",
    },
    Sentence.MODEL_RATE_LIMIT_UNTIL: {
        "en": "The model's server takes no more requests for the moment, so there is no answer.\n{detail}\n"
        "Try again in {wait}.",
        "de": "Der Server des Modells nimmt gerade keine Anfragen mehr an, darum gibt es keine Antwort.\n{detail}\n"
        "Versuch es in {wait} noch einmal.",
    },
    Sentence.MODEL_OVERLOAD: {
        "en": "The model's server is overloaded or broken right now, so there is no answer.\n{detail}\n"
        "Try again in a moment.",
        "de": "Der Server des Modells ist gerade überlastet oder gestört, darum gibt es keine Antwort.\n{detail}\n"
        "Versuch es gleich noch einmal.",
    },
    Sentence.MODEL_CONTEXT_OVERFLOW: {
        "en": "This is more text than the model can take, even with the history cut, so there is no answer.\n{detail}\n"
        "Send less at once, or begin afresh with `/new`.",
        "de": "Das ist mehr Text, als das Modell fassen kann, auch mit gekürztem Verlauf; darum gibt es keine "
        "Antwort.\n{detail}\nSchick weniger auf einmal oder fang mit `/new` neu an.",
    },
    Sentence.MODEL_BAD_REQUEST: {
        "en": "The model's server did not accept the request, so there is no answer.\n{detail}\n"
        "If it happens again, choose another model with `/model` or begin afresh with `/new`.",
        "de": "Der Server des Modells hat die Anfrage nicht angenommen, darum gibt es keine Antwort.\n{detail}\n"
        "Wenn das wieder geschieht, wähle mit `/model` ein anderes Modell oder fang mit `/new` neu an.",
    },
    Sentence.MODEL_NOT_FOUND: {
        "en": "The server does not have the model that was asked for, so there is no answer.\n{detail}\n"
        "Choose another with `/model` or `hob config set model.name NAME`.",
        "de": "Der Server hat das verlangte Modell nicht, darum gibt es keine Antwort.\n{detail}\n"
        "Wähle ein anderes mit `/model` oder `hob config set model.name NAME`.",
    },
    Sentence.MODEL_NETWORK: {
        "en": "The model's server cannot be reached, so there is no answer.\n{detail}\n"
        "When it can be reached, send your message again.",
        "de": "Der Server des Modells ist nicht erreichbar, darum gibt es keine Antwort.\n{detail}\n"
        "Wenn er erreichbar ist, schick die Nachricht noch einmal.",
    },
    Sentence.MODEL_GARBAGE: {
        "en": "The server answered with something that no model says, so there is no answer.\n{detail}\n"
        "If it happens again, choose another model with `/model`.",
        "de": "Der Server hat etwas geschickt, das kein Modell sagt, darum gibt es keine Antwort.\n{detail}\n"
        "Wenn das wieder geschieht, wähle mit `/model` ein anderes Modell.",
    },
    Sentence.MODEL_CUT: {
        "en": "The connection broke in the middle of the answer, so there is none.\n{detail}\nSend your message again.",
        "de": "Die Verbindung ist mitten in der Antwort abgerissen, darum gibt es keine.\n{detail}\n"
        "Schick die Nachricht noch einmal.",
    },
    Sentence.MODEL_TIMEOUT: {
        "en": "The model stayed silent for too long, so there is no answer.\n{detail}\nSend your message again.",
        "de": "Das Modell hat zu lange geschwiegen, darum gibt es keine Antwort.\n{detail}\n"
        "Schick die Nachricht noch einmal.",
    },
    Sentence.MODEL_EMPTY: {
        "en": "The model's answer was empty.\n{detail}\nSend your message again, perhaps in other words.",
        "de": "Die Antwort des Modells war leer.\n{detail}\n"
        "Schick die Nachricht noch einmal, vielleicht mit anderen Worten.",
    },
    Sentence.MODEL_FILTERED: {
        "en": "Something was held back, so there is no answer.\n{detail}\n"
        "Ask in other words, or choose another model with `/model`.",
        "de": "Etwas wurde zurückgehalten, darum gibt es keine Antwort.\n{detail}\n"
        "Frag mit anderen Worten oder wähle mit `/model` ein anderes Modell.",
    },
    Sentence.NO_MODEL: {
        "en": "No model can be asked yet, so your message is kept ({detail}).\n"
        "`hob onboard` connects one; then `hob retry` answers all that was kept, `hob retry {id}` this message alone.",
        "de": "Noch kann kein Modell gefragt werden; deine Nachricht bleibt erhalten ({detail}).\n"
        "`hob onboard` verbindet eines; danach beantwortet `hob retry` alles Aufgehobene, `hob retry {id}` nur diese.",
    },
    Sentence.MODEL_SETTINGS: {
        "en": "The model cannot be asked as it is set up, so there is no answer.\n{detail}\n`hob config check` looks "
        "at the settings; put them right, then `hob secrets reload` and `hob retry {id}` answer your message.",
        "de": "So, wie das Modell eingestellt ist, kann es nicht gefragt werden, darum gibt es keine Antwort.\n"
        "{detail}\n`hob config check` sieht die Einstellungen durch; bring sie in Ordnung, "
        "danach beantworten `hob secrets reload` und `hob retry {id}` deine Nachricht.",
    },
    Sentence.BUDGET_REACHED: {
        "en": "I stopped before spending: `{key}` is ${limit}, ${spent} of it is spent, and the next answer may cost "
        "${worst}. Raise the limit with `hob config set {setting} DOLLARS`, or wait.",
        "de": "Ich habe aufgehört, bevor Geld fließt: `{key}` ist {limit} $, davon sind {spent} $ ausgegeben, und die "
        "nächste Antwort kann {worst} $ kosten. Erhöhe die Grenze mit `hob config set {setting} DOLLAR` oder warte.",
    },
    Sentence.BUDGET_HELD: {
        "en": "I stopped before spending: `{key}` is ${limit}, ${spent} of it is spent, ${held} is held back for "
        "answers under way, and the next answer may cost ${worst}. Wait for those answers, or raise the limit with "
        "`hob config set {setting} DOLLARS`.",
        "de": "Ich habe aufgehört, bevor Geld fließt: `{key}` ist {limit} $, davon sind {spent} $ ausgegeben und "
        "{held} $ für laufende Antworten zurückgelegt, und die nächste Antwort kann {worst} $ kosten. Warte auf diese "
        "Antworten oder erhöhe die Grenze mit `hob config set {setting} DOLLAR`.",
    },
    Sentence.BUDGET_USED_UP: {
        "en": "I stopped before spending: `{key}` is ${limit}, and nothing of it is left (${spent} spent, ${held} held "
        "back). Raise the limit with `hob config set {setting} DOLLARS`, or wait.",
        "de": "Ich habe aufgehört, bevor Geld fließt: `{key}` ist {limit} $, und davon ist nichts übrig ({spent} $ "
        "ausgegeben, {held} $ zurückgelegt). Erhöhe die Grenze mit `hob config set {setting} DOLLAR` oder warte.",
    },
    Sentence.BUDGET_NEARLY_REACHED: {
        "en": "${spent} of the ${limit} of `{key}` are spent. `hob usage` tells on what.",
        "de": "Von den {limit} $ von `{key}` sind {spent} $ ausgegeben. `hob usage` sagt, wofür.",
    },
    Sentence.BUDGET_LEFT_OUT: {
        "en": "{model} is not asked: ${left} of the ${limit} of `{key}` are left, too little for its answer.",
        "de": "{model} wird nicht gefragt: Von den {limit} $ von `{key}` sind noch {left} $ übrig, zu wenig für seine "
        "Antwort.",
    },
    Sentence.MODEL_BUDGET: {
        "en": "The spending limit is reached, so there is no answer ({detail}). See `/usage`.",
        "de": "Die Ausgabengrenze ist erreicht, darum gibt es keine Antwort ({detail}). Siehe `/usage`.",
    },
    Sentence.PRICE_UNKNOWN: {
        "en": "I did not ask {model}: its price is unknown, and `spending.on_unknown` says refuse. "
        "Set it under `model.prices`, or allow unknown prices.",
        "de": "Ich habe {model} nicht gefragt: Der Preis ist unbekannt, und `spending.on_unknown` steht auf refuse. "
        "Trag ihn unter `model.prices` ein oder erlaube unbekannte Preise.",
    },
    Sentence.REPLY_CUT: {
        "en": "[The answer was cut off here at the length limit. Say “go on” for the rest.]",
        "de": "[Die Antwort wurde hier an der Längengrenze abgeschnitten. Sag „weiter“ für den Rest.]",
    },
    Sentence.ITERATION_LIMIT: {
        "en": "I stopped after {rounds} rounds without getting done. What the tools found so far is kept; "
        "say “go on” to let me continue.",
        "de": "Ich habe nach {rounds} Runden aufgehört, ohne fertig zu sein. Was die Werkzeuge bisher ergaben, ist "
        "erhalten; sag „weiter“, dann mache ich weiter.",
    },
    Sentence.LOOP_ENDED: {
        "en": "I stopped since I was going in circles ({detail}). Tell me what to try instead.",
        "de": "Ich habe aufgehört, weil ich mich im Kreis gedreht habe ({detail}). Sag mir, was ich stattdessen "
        "versuchen soll.",
    },
    Sentence.RUN_TIMEOUT: {
        "en": "I stopped after {wait} without getting done. Say “go on” to let me continue, or ask for less at once.",
        "de": "Ich habe nach {wait} aufgehört, ohne fertig zu sein. Sag „weiter“, dann mache ich weiter, "
        "oder verlange weniger auf einmal.",
    },
    Sentence.HOOK_DENIED: {
        "en": "A hook stopped this: {detail}",
        "de": "Ein Hook hat das angehalten: {detail}",
    },
    Sentence.CANCELLED: {
        "en": "Stopped ({reason}).",
        "de": "Angehalten ({reason}).",
    },
    Sentence.CANCELLED_WAITING: {
        "en": "This message was not answered: it was cancelled before its turn came ({reason}).",
        "de": "Diese Nachricht wurde nicht beantwortet: Sie wurde abgebrochen, bevor sie an der Reihe war ({reason}).",
    },
    Sentence.STILL_WAITING: {
        "en": "Still waiting for the model ({wait} without a word).",
        "de": "Ich warte noch auf das Modell (seit {wait} kein Wort).",
    },
    Sentence.ASKED_AGAIN: {
        "en": "The model has sent nothing for {wait}; it is asked again, together with the new message.",
        "de": "Das Modell hat seit {wait} nichts gesendet; es wird noch einmal gefragt, mit der neuen Nachricht.",
    },
    Sentence.WAITS_FOR_MODEL: {
        "en": "waits for the model's server ({detail})",
        "de": "wartet auf den Server des Modells ({detail})",
    },
    Sentence.WAITS_FOR_APPROVAL: {
        "en": "waits for approval of {tool}: {reason}",
        "de": "wartet auf die Erlaubnis für {tool}: {reason}",
    },
    Sentence.WAITS_FOR_ANSWER: {
        "en": "waits for an answer ({id})",
        "de": "wartet auf eine Antwort ({id})",
    },
    Sentence.SET_ASIDE: {
        "en": "Hob stopped unexpectedly three times while working on this message, so it was set aside. "
        "`hob retry {id}` tries it once more.",
        "de": "Hob ist bei der Arbeit an dieser Nachricht dreimal abgestürzt; sie ist darum "
        "beiseitegelegt. `hob retry {id}` versucht es noch einmal.",
    },
    Sentence.BUSY_SENDER: {
        "en": "You have too many messages waiting; this one was not taken. Try again in {wait}.",
        "de": "Von dir warten schon zu viele Nachrichten; diese wurde nicht angenommen. "
        "Versuch es in {wait} noch einmal.",
    },
    Sentence.BUSY_LANE: {
        "en": "Too much is waiting in this conversation; this message was not taken. Try again in {wait}, or `/stop`.",
        "de": "In diesem Gespräch wartet schon zu viel; diese Nachricht wurde nicht angenommen. "
        "Versuch es in {wait} noch einmal, oder `/stop`.",
    },
    Sentence.BUSY_TOTAL: {
        "en": "Hob has too much to do; this message was not taken. Try again in {wait}.",
        "de": "Hob hat zu viel zu tun; diese Nachricht wurde nicht angenommen. Versuch es in {wait} noch einmal.",
    },
    Sentence.BUSY_SELF: {
        "en": "Hob has made too many messages for itself within the hour; this one was not taken. Try again in {wait}.",
        "de": "Hob hat sich selbst in dieser Stunde zu viele Nachrichten geschickt; diese wurde nicht angenommen. "
        "Versuch es in {wait} noch einmal.",
    },
    Sentence.STOPPING: {
        "en": "Hob is shutting down; this message was not taken. Send it again in a moment.",
        "de": "Hob wird gerade beendet; diese Nachricht wurde nicht angenommen. Schick sie gleich noch einmal.",
    },
    Sentence.PAUSED: {
        "en": "Kept, but this conversation is paused; `/resume` lets it go on.",
        "de": "Behalten, aber dieses Gespräch ist angehalten; mit `/resume` geht es weiter.",
    },
    Sentence.STORE_FULL: {
        "en": "The disk is full or not writable; this message was not taken. "
        "Free some space and send it again; Hob goes on by itself.",
        "de": "Die Platte ist voll oder nicht beschreibbar; diese Nachricht wurde nicht angenommen. "
        "Schaff Platz und schick sie noch einmal; Hob macht von selbst weiter.",
    },
    Sentence.STORE_TROUBLE: {
        "en": "The database cannot be used ({detail}); this message was not taken. See `hob status`.",
        "de": "Die Datenbank ist nicht benutzbar ({detail}); diese Nachricht wurde nicht angenommen. "
        "Siehe `hob status`.",
    },
    Sentence.TOO_LONG: {
        "en": "This message is too long ({length} characters, at most {limit}); it was not taken. Send it in parts.",
        "de": "Diese Nachricht ist zu lang ({length} Zeichen, höchstens {limit}); sie wurde nicht angenommen. "
        "Schick sie in Teilen.",
    },
    Sentence.EMPTY_MESSAGE: {
        "en": "There is nothing in this message.",
        "de": "In dieser Nachricht steht nichts.",
    },
    Sentence.COMMAND_FAILED: {
        "en": "The command /{name} failed because of a defect in Hob; the log says more.",
        "de": "Der Befehl /{name} ist an einem Fehler in Hob gescheitert; mehr steht im Protokoll.",
    },
    Sentence.INTERRUPTED: {
        "en": "a newer message came in",
        "de": "eine neuere Nachricht kam herein",
    },
    Sentence.STORE_WAITS: {
        "en": "Kept, but the database cannot be written right now; this goes on by itself. See `hob status`.",
        "de": "Behalten, aber die Datenbank ist gerade nicht beschreibbar; es geht von selbst weiter. "
        "Siehe `hob status`.",
    },
    Sentence.PROMPT_GUARD_WARNED: {
        "en": "This went to the model's provider with {kinds} in it; `[prompt_guard]` in the settings can prevent it.",
        "de": "Das ging mit {kinds} darin an den Anbieter des Modells; "
        "`[prompt_guard]` in den Einstellungen kann das verhindern.",
    },
    Sentence.STAND_IN_AUTH: {
        "en": "The key for {model} was refused, so {other} answers. Check the key (`hob config show`).",
        "de": "Der Schlüssel für {model} wurde abgelehnt, darum antwortet {other}. "
        "Prüfe den Schlüssel (`hob config show`).",
    },
    Sentence.STAND_IN_BILLING: {
        "en": "The account for {model} has no credit left, so {other} answers.",
        "de": "Das Konto für {model} hat kein Guthaben mehr, darum antwortet {other}.",
    },
    Sentence.STAND_IN_RATE_LIMIT: {
        "en": "{model} takes no more requests for the moment, so {other} answers.",
        "de": "{model} nimmt gerade keine Anfragen mehr an, darum antwortet {other}.",
    },
    Sentence.STAND_IN_OVERLOAD: {
        "en": "{model} is overloaded or broken right now, so {other} answers.",
        "de": "{model} ist gerade überlastet oder gestört, darum antwortet {other}.",
    },
    Sentence.STAND_IN_NETWORK: {
        "en": "{model} cannot be reached, so {other} answers.",
        "de": "{model} ist nicht erreichbar, darum antwortet {other}.",
    },
    Sentence.STAND_IN_TIMEOUT: {
        "en": "{model} stayed silent for too long, so {other} answers.",
        "de": "{model} hat zu lange geschwiegen, darum antwortet {other}.",
    },
    Sentence.STAND_IN_UNUSABLE: {
        "en": "{model} gave no answer that is one, so {other} answers.",
        "de": "{model} hat keine brauchbare Antwort gegeben, darum antwortet {other}.",
    },
    Sentence.STAND_IN_NOT_FOUND: {
        "en": "Its server does not have {model}, so {other} answers. Choose another model with `/model`.",
        "de": "Sein Server hat {model} nicht, darum antwortet {other}. Wähle mit `/model` ein anderes Modell.",
    },
    Sentence.STAND_IN_BAD_REQUEST: {
        "en": "{model} did not accept the request, so {other} answers.",
        "de": "{model} hat die Anfrage nicht angenommen, darum antwortet {other}.",
    },
    Sentence.STAND_IN_SETTINGS: {
        "en": "{model} cannot be asked as it is set up, so {other} answers. `hob config check` looks at the settings.",
        "de": "So, wie {model} eingestellt ist, kann es nicht gefragt werden, darum antwortet {other}. "
        "`hob config check` sieht die Einstellungen durch.",
    },
    Sentence.CLI_TOOLS_REFUSED: {
        "en": "{model} reached for tools of its own ({tools}), which it does not have here.",
        "de": "{model} wollte eigene Werkzeuge benutzen ({tools}), die es hier nicht hat.",
    },
    Sentence.MESSAGE_SHORTENED: {
        "en": "{model} has no room for the whole message ({length} characters): it read only its beginning and end. "
        "A model with more room (`/model`) can read all of it.",
        "de": "{model} hat nicht genug Platz für die ganze Nachricht ({length} Zeichen): Es hat nur Anfang und Ende "
        "gelesen. Ein Modell mit mehr Platz (`/model`) kann sie ganz lesen.",
    },
    Sentence.SUMMARY_OUTLINED: {
        "en": "The model could not summarise the older messages of this conversation; it is shown how each of them "
        "began. Choose a model for summaries with `hob config set model.tasks.summary NAME`.",
        "de": "Das Modell konnte die älteren Nachrichten dieses Gesprächs nicht zusammenfassen; es sieht, wie jede von "
        "ihnen begann. Wähle mit `hob config set model.tasks.summary NAME` ein Modell für Zusammenfassungen.",
    },
    Sentence.OBEYED_CHANGED: {
        "en": "A command changed what other programs obey outside of the sandbox: {paths}. Look at it before you use "
        "that folder yourself; `/undo files` puts it back.",
        "de": "Ein Befehl hat geändert, was andere Programme außerhalb der Sandbox befolgen: {paths}. Sieh es dir an, "
        "bevor du den Ordner selbst benutzt; `/undo files` stellt es wieder her.",
    },
    Sentence.TAKEN_BACK: {
        "en": "A command wrote what would make git run a program outside of the sandbox: {paths}. It was taken back.",
        "de": "Ein Befehl hat geschrieben, was Git außerhalb der Sandbox ein Programm ausführen ließe: {paths}. "
        "Es wurde zurückgenommen.",
    },
    Sentence.OUTBOX_LATE: {
        "en": "Replies to {channel} have been waiting for {wait} to be delivered{why}. Hob goes on trying; "
        "`hob status` says how it stands.",
        "de": "Antworten an {channel} warten seit {wait} darauf, zugestellt zu werden{why}. Hob versucht es weiter; "
        "`hob status` sagt, wie es steht.",
    },
}

OF_FAULT: Mapping[ModelFault, Sentence] = {
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
"""What is said when a model gave no answer."""

OF_STAND_IN: Mapping[ModelFault, Sentence] = {
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
"""What is said when another model (`other`) answers instead of the one that was wanted (`model`)."""

OF_BUSY: Mapping[BusyScope, Sentence] = {
    BusyScope.SENDER: Sentence.BUSY_SENDER,
    BusyScope.LANE: Sentence.BUSY_LANE,
    BusyScope.TOTAL: Sentence.BUSY_TOTAL,
    BusyScope.SELF: Sentence.BUSY_SELF,
}
"""What is said when nothing more is taken."""


_SPANS: Mapping[str, tuple[tuple[float, str, str], ...]] = {
    "en": ((3600, "hour", "hours"), (60, "minute", "minutes"), (1, "second", "seconds")),
    "de": ((3600, "Stunde", "Stunden"), (60, "Minute", "Minuten"), (1, "Sekunde", "Sekunden")),
}


def span(seconds: float, language: str = "en") -> str:
    """So many seconds in words, rounded up: at least a second, minutes from 120 seconds on, hours from 120 minutes on.

    A whole hour or minute is called so.
    """
    left = max(1, math.ceil(seconds))
    units = _SPANS.get(language, _SPANS["en"])
    size, one, many = next(unit for unit in units if left >= 2 * unit[0] or left == unit[0] or unit[0] == 1)
    count = math.ceil(left / size)
    return f"{count} {one if count == 1 else many}"


def say(sentence: Sentence, language: str = "en", **values: object) -> str:
    """The sentence in this language (English where Hob does not speak it), its placeholders filled.

    Raises KeyError for a missing placeholder.
    """
    texts = _TEXTS[sentence]
    text = texts.get(language) or texts["en"]
    return text.format_map(values) if values or "{" in text else text


def texts_of(sentence: Sentence) -> Mapping[str, str]:
    """The sentence in every language, placeholders unfilled."""
    return _TEXTS[sentence]
