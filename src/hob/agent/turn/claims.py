"""Detect replies that claim an action no tool of the turn performed. Pure rules over words.

A claim is a sentence in which Hob says that something is done: "I've sent the mail", "Termin eingetragen.". Statements
about other people or earlier actions, questions, denials, possibilities, quotations and drafts are not claims: missing
a claim is better than accusing a harmless reply. A call whose effects could have done it backs the claim, whatever the
tool is called.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import NamedTuple

from hob.core.tools import Effect

ABOUT_CLAIM = "unbacked claim"
"""The `about` of a note on such a claim."""
_MAX_CLAIM_CHARS = 160  # characters of a claim that are shown
_SEARCHED_CHARS = 400  # of a sentence: a claim is short, and rules cost more than linear time
_NARRATIVE_SENTENCES = 8  # sentences; in a longer text "I sent it" is a story


class Claim(NamedTuple):
    """A sentence that claims an action, and the effects that back it; a tool needs at least one of them."""

    words: str
    effects: frozenset[Effect]


class _Action(StrEnum):
    SENT = "sent"
    SAVED = "saved"
    DELETED = "deleted"
    SCHEDULED = "scheduled"
    SWITCHED = "switched"


_WRITING = frozenset({Effect.WRITES, Effect.WRITES_FINALLY, Effect.PERSISTS, Effect.EXECUTES})
READING = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
"""Effects that back no claim; they may show that a statement is information."""
_EFFECTS = {
    _Action.SENT: frozenset({Effect.COMMUNICATES}),
    _Action.SAVED: _WRITING,
    _Action.DELETED: _WRITING,
    _Action.SCHEDULED: (_WRITING | {Effect.COMMUNICATES}) - {Effect.WRITES},  # a written file reminds of nothing
    _Action.SWITCHED: _WRITING | {Effect.COMMUNICATES},
}

# Parts of sentences. The tables of forms and verbs follow.

_THINGS = (
    "e-?mail|mail|message|reply|text|file|document|report|note|entry|reminder|meeting|appointment|event|invite|"
    "invitation|draft|letter|photo|folder|contact|call|flight|table|request|form|changes?|notes?|files?|messages?|"
    "alarm|timer"
)
_DINGE = (
    "e-?mails?|mails?|nachricht(?:en)?|antwort|datei(?:en)?|dokument|bericht|notiz(?:en)?|eintrag|erinnerung|termin|"
    "treffen|besprechung|einladung|entwurf|brief|foto|ordner|kontakt|flug|tisch|anfrage|formular|änderungen"
)
_TO = r"(?:\s+(?:to|with|for|at)\s+[\w@.#'-]+(?:\s+[\w@.-]+){0,3}?)?"
_AN = r"(?:\s+(?:an|mit|für|bei)\s+[\w@.-]+(?:\s+[\w@.-]+){0,2}?)?"
_OBJECT = (
    rf"(?:the|your|an?|both|all(?:\s+(?:of\s+)?(?:the|your))?)\s+(?:[\w-]+\s+){{0,2}}"
    rf"(?:{_THINGS}|e?-?mails|invoices?|bill|backups?|summary|list)\b(?!\s+(?:by|that|which|is|are|was|were)\b)"
)
_NAME = r"(?-i:[A-ZÄÖÜ])\w+"
_WHOM = rf"(?:ihr|ihm|ihnen|(?:dem|der|das|die|deine[mrn]?)\s+\w+|{_NAME})"
_TEAM = r"everyone|everybody|(?:the|your)\s+(?:team|group|landlord|boss)"
_PERSON = rf"(?:him|her|them|{_TEAM}|{_NAME})\b"
_REACHED = rf"(?:{_TEAM}|alle|das\s+team|die\s+gruppe|(?:{_NAME}\s+(?:and|und)\s+)?{_NAME})"
_WRITTEN = (  # what can be written, without an article; any other such word is a name
    r"\w*(?:tests?|texte?|code|gedichte?|notizen|geschichten?|briefe|mails|nachrichten|artikel|sätze|zeilen|absätze|"
    r"kommentare?|skripte?|programme|funktionen|klassen|dokumentation|doku|prosa|lyrik|lieder|songs|posts|beiträge|"
    r"listen|aufgaben|übungen|fragen|antworten|beispiele|varianten|vorschläge|entwürfe|zusammenfassungen?|bücher|"
    r"haikus?|limericks?|dialoge?|regeln|ungen|verse|strophen|szenen|kapitel|essays?|reden|rezepte|pläne|witze|sprüche|"
    r"slogans|titel|memos|seiten|wörter|reime|python|java|rust|ruby|perl|bash|markdown|englisch|deutsch)\b"
)
_FILE = r"(?:the\s+)?(?:new\s+)?(?:file\s+)?[\w/-]*\w{2}\.[a-z]\w{1,4}\b"
_DEVICE = (
    r"(?:the|your|all|both)\s+(?:[\w-]+\s+){0,3}?"
    r"(?:lights?|lamps?|heating|heater|thermostat|tv|television|radio|music|fan|oven|speakers?|air\s+conditioning)\b"
)
_SOON = r"(?:(?:just|now|successfully|also|gone ahead and|went ahead and|since|then|safely)\s+)*"
_BALD = r"(?:(?:soeben|gerade|eben|jetzt|nun|erfolgreich|damit|hiermit|auch|per\s+(?:e-?mail|mail|nachricht|sms))\s+)*"
_NACH = r"(?:[^.;:,\d]{0,40}\s)?"
_END = r"[.!]*$"
_SHOWN = r"(?!.*(?::$|\b(?:below|above|from\s+the\s+(?:list|table|text))\b))"  # the reply itself contains it
_LEAD = (
    r"[✅✔☑\ufe0f🎉📧\s*•_-]*(?:(?:ok(?:ay)?|done|all set|great|sure|perfect|alright|yes|indeed|of course|truly|"
    r"absolutely|certainly|erledigt|fertig|gut|alles klar|ja|natürlich|klar|gerne?|selbstverständlich)\b"
    r"[\s,.:!;\u2013\u2014-]*)*"
)
_STATE = (
    rf"^{_LEAD}(?:your\s+)?(?:reminder|alarm|timer)\s+(?:is\s+)?(?:now\s+)?(?:set|scheduled)\s+(?:for|at|on)\b"
    rf"|^{_LEAD}(?:(?:die|der|deine?)\s+)?(?:erinnerung|wecker|timer|alarm)\s+(?:ist|wurde)\s+(?:[^.;:,]{{1,40}}\s)?"
    r"(?:gesetzt|gestellt|eingerichtet|angelegt|erstellt)[.!]*$"
    rf"|^{_LEAD}your\s+(?:table|room|flight|hotel|seats?|tickets?|appointment)\b(?:\s+(?:at|in|for|with|to)\s[^.;:,]{{1,40}})?"
    r"\s+(?:is|are)\s+(?:now\s+)?booked\b(?!\s+(?:out|up)\b|.*\b(?:says?|according|under)\b)"
    rf"|^{_LEAD}deine?\s+(?:tisch|zimmer|flug|hotel|platz|plätze|fahrkarten?|termin)\b(?:\s+(?:bei|in|im|am|für)\s[^.;:,]{{1,40}})?"
    r"\s+(?:ist|sind)\s+(?:jetzt\s+)?gebucht\b(?!.*\b(?:laut|unter)\b)"
)
"""A claim if something was to be done, but information if the user asked for it."""
_IN_CALENDAR = (
    rf"^{_LEAD}(?:it|(?:the|your)\s+(?:[\w-]+\s+)?(?:appointment|meeting|event|date|call|reminder|entry))"
    r"(?:'s|\s+is)\s+(?:now\s+)?(?:in|on)\s+(?:your|the)\s+calendar(?:\s+now)?[.!]*$"
    rf"|^{_LEAD}(?:es|(?:der|das|die|deine?)\s+(?:\w+\s+)?\w*(?:termin|treffen|besprechung|erinnerung|eintrag))\s+(?:steht|ist)"
    r"\s+(?:jetzt\s+|nun\s+|damit\s+)?(?:im|in\s+deinem)\s+kalender[.!]*$"
)
"""The same, and information if a tool read something: it may have been the calendar."""
_PROMISE = (
    rf"^{_LEAD}I'll\s+remind\s+you\b(?=.*\b(?:at\s+\d|tomorrow|tonight|in\s+\d+\s+(?:minute|hour|day)|"
    r"on\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day))"
    rf"|^{_LEAD}ich\s+erinnere\s+dich\b(?=.*\b(?:um\s+\d|morgen|heute|in\s+\d+\s+(?:minute|stunde|tag)|"
    r"am\s+(?:(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)))"
)
_NOTED = rf"^{_LEAD}(?:notiert|aufgeschrieben|noted(?:\s+down)?|written\s+down){_END}"
_ONLY_IF_ASKED = {  # what the user must have asked for; else it means "understood", or a reminder of an earlier turn
    _PROMISE: (
        r"\b(?:remind\w*|forget|wake|ping|nudge|tell\s+me|let\s+me\s+know|erinner\w*|vergess\w*|weck\w*|sag\s+mir|melde)\b"
    ),
    _NOTED: (
        r"\b(?:notier\w*|notiz|schreib\w*\b[^.?!]*\bauf|(?:note|jot|write)\b[^.?!]*\bdown|(?:make|take|add)\s+an?\s+note)\b"
    ),
}

_FORMS = {  # of sentences that claim an action
    "I have": rf"\bI(?:'ve|\s+have)\s+{_SHOWN}{_SOON}(?:<verbs>)\s+<object>",
    "I did": rf"\bI(?:'ve|\s+have)?\s+{_SHOWN}{_SOON}(?:<verbs>)\s+<object>",
    "done": rf"^{_LEAD}(?:<verbs>)\s+<object>",
    "is": rf"^{_LEAD}<object>\s+(?:<verbs>)",
    "ich habe": r"\b(?:ich\s+habe?|habe?\s+ich)\b[^.;:,]{0,60}\b<object>\s+(?:<verbs>)\b",
    "ich habe ihm": (
        rf"(?:\bich\s+habe?\s+{_BALD}<object>|^{_LEAD}<object>\s+habe?\s+ich)\s+(?:[^.;:,]{{0,40}}\s)?(?:<verbs>)\b"
    ),
    "ich habe nur ihm": (
        rf"(?:\bich\s+habe?\s+{_BALD}<object>\s+(?:(?:(?:eine?n?|die|den|das)\s+)?{_NAME}\s+)?"
        rf"|^{_LEAD}<object>\s+habe?\s+ich\s+{_BALD})(?:<verbs>)(?:{_END}|,)"
    ),
}
_VERBS = {  # that claim the action with any object: English, German
    _Action.SENT: (
        "sent|emailed|e-mailed|forwarded|submitted|transferred|delivered|posted|paid|messaged|texted|notified|uploaded",
        "gesendet|geschickt|verschickt|abgeschickt|versendet|weitergeleitet|abgesendet|überwiesen|bezahlt|hochgeladen|"
        "bestellt",
    ),
    _Action.SAVED: ("saved|stored", "gespeichert|abgespeichert"),
    _Action.DELETED: ("deleted|erased", "gelöscht"),
    _Action.SCHEDULED: (
        "scheduled|rescheduled|booked|reserved",
        "eingetragen|eingeplant|terminiert|vorgemerkt|gebucht|reserviert",
    ),
}
_WITH_OBJECTS = {
    # form, verbs that claim the action only with certain objects (plans are created and words removed, too), object
    _Action.SENT: (
        ("I have", "told|contacted|called|phoned|rung", rf"{_PERSON}(?:\s+about\b[^.;:]*)?{_END}"),
        ("I have", r"replied\s+to|informed|invited", _PERSON),
        ("I have", "let", rf"{_PERSON}\s+know\b"),
        ("I have", "shared", rf"(?:it|(?:the|your)\s+[\w.-]+)\s+with\s+{_PERSON}"),
        ("I have", r"(?:committed\s+and\s+)?pushed", r"(?:the|your|all)\s+(?:the\s+)?(?:changes|commits?|branch)\b"),
        (
            "I have",
            "ordered",
            rf"(?:the|your|an?|two|three|some)\s+(?!list|items?|entries|files|results|names|rows|steps|points|words)[\w-]+(?:\s+[\w-]+)?{_END}",
        ),
        ("ich habe ihm", r"geantwortet|bescheid\s+(?:gegeben|gesagt)|informiert|benachrichtigt", _WHOM),
        ("ich habe ihm", "eingeladen|angerufen", _WHOM),
        ("ich habe ihm", "geschrieben", "(?:ihr|ihm|ihnen)"),
        ("ich habe nur ihm", "geschrieben", rf"(?:an|deine[mnr]\s+\w+|(?!{_WRITTEN})(?-i:[A-ZÄÖÜ][a-zäöüß]+))"),
        ("is", r"(?:made|completed)\b", r"(?:(?:your|the|this)\s+)?(?:payment|transfer)\b[^.;:]{0,40}"),
        ("is", r"(?:ausgeführt|getätigt)\b", r"(?:(?:die|deine)\s+)?(?:zahlung|überweisung)\b[^.;:]{0,40}"),
        ("is", rf"is\s+{_SOON}on\s+its\s+way\b", rf"(?:the|your)\s+(?:e-?mail|mail|message|invitation|reply){_TO}"),
        (
            "is",
            rf"ist\s+{_BALD}(?:raus|unterwegs){_END}",
            rf"(?:die|deine)\s+(?:e-?mail|mail|nachricht|einladung|antwort){_AN}",
        ),
        (
            "is",
            rf"ha(?:s|ve)\s+{_SOON}been\s+(?:notified|informed|messaged|e-?mailed|texted)(?:\s+(?:about\b[^.;:,]*|(?:by|via)\s+(?:e-?mail|mail|text|message)))?{_END}",
            _REACHED,
        ),
        ("is", rf"wurden?\s+{_BALD}(?:benachrichtigt|informiert|angeschrieben){_END}", _REACHED),
    ),
    _Action.SAVED: (
        ("I did", "created|written", r"(?:the\s+)?(?:file|folder)\s+[\w./-]+"),
        ("I did", "created", _FILE),
        ("I did", "written|wrote", rf"(?:[^.;:]{{0,60}}\s)?(?:to|into)\s+{_FILE}"),
        ("I have", "updated|edited|renamed|overwritten|moved", _FILE),
        ("done", "created|wrote", rf"{_FILE}{_END}"),
        ("ich habe", "erstellt|angelegt|geschrieben", rf"{_FILE}(?:\s[^.;:]{{0,40}})?"),
    ),
    _Action.DELETED: (
        ("I did", "removed", rf"(?:(?:the|your)\s+(?:file|folder|reminder|appointment|event)\b|{_FILE})"),
        ("done", "removed", rf"{_FILE}{_END}"),
        ("ich habe", "entfernt", _FILE),
    ),
    _Action.SCHEDULED: (
        ("I did", "set|created|added|put", r"[^.;:]{0,60}\b(?:reminder|calendar|appointment)\b"),
        (
            "I have",
            "created|made",
            rf"(?:the|an?|your)\s+(?:new\s+)?(?:event|reservation|booking)(?:\s+(?:at|for|in|with|on)\b[^.;:]*)?{_END}",
        ),
        (
            "I have",
            "cancell?ed",
            r"(?:the|your)\s+(?:[\w-]+\s+)?(?:appointment|meeting|call|reservation|booking|subscription|order|flight|table|event|reminder)\b",
        ),
        ("done", "added", r"(?:it|(?:the|your|an?)\s[^.;:]{1,50})\s+(?:to|in)\s+(?:your|the)\s+calendar\b"),
        ("is", rf"has\s+been\s+{_SOON}(?:set|created|scheduled)\b(?!.*\bby\b)", r"an?\s+(?:reminder|alarm|timer)"),
        (
            "is",
            rf"(?:(?:is|has\s+been)\s+)?{_SOON}(?:set|created|added)\b[^.;:,]*{_END}",
            r"(?:your\s+)?(?:reminder|alarm|timer)",
        ),
        (
            "ich habe",
            "abgesagt|storniert|gekündigt",
            r"(?:termin|treffen|besprechung|reservierung|buchung|bestellung|abo|tisch|flug)(?:\s[^.;:,]{0,40})?",
        ),
        ("ich habe", "gestellt|gesetzt|eingerichtet", r"(?:wecker|timer|alarm)(?:\s[^.;:,]{0,40})?"),
        ("ich habe", "angelegt|erstellt|gesetzt|eingerichtet", r"(?:termin|erinnerung)(?:\s[^.;:,]{0,40})?"),
        (
            "is",
            rf"geplant{_END}",
            r"ich\s+habe?\s+(?:es|das|(?:den|die|deine?n?)\s+(?:termin|erinnerung|treffen|besprechung))"
            r"(?:\s+(?:für|auf|am|um)\s[^.;:,]{1,40})?",
        ),
    ),
    _Action.SWITCHED: (
        ("I have", "turned|switched", rf"(?:(?:off|on)\s+{_DEVICE}|{_DEVICE}\s+(?:off|on)\b)"),
        ("done", "turned|switched", rf"(?:off|on)\s+{_DEVICE}{_END}"),
        ("is", rf"ha(?:s|ve)\s+{_SOON}been\s+(?:turned|switched)\s+(?:off|on){_END}", _DEVICE),
        (
            "ich habe",
            "(?:aus|ein|an|ab)(?:geschaltet|gemacht|gestellt|gedreht)",
            (
                r"(?:das|die|den|alle|deine?n?)\s+(?:\w+\s+){0,2}?"
                r"\w*(?:licht(?:er)?|lampen?|heizung|thermostat|fernseher|radio|musik|ventilator|ofen|herd|lautsprecher|klimaanlage)"
                r"(?:\s[^.;:,]{0,30})?"
            ),
        ),
    ),
}
_TEXT_PART = (  # parts of a text that the reply itself contains
    r"(?:(?:the|your|this|that|all|each|every|both|a|one|two|three|some|extra|first|second|last)\s+)*"
    r"(?:sentence|paragraph|word|comma|line|section|duplicate|clause|phrase|bullet|you\b)"
)
_THE, _DIE = r"(?:(?:your|the|this)\s+)?", r"(?:(?:die|der|das|deine?|ihre?)\s+)?"
_WITH_ANY_OBJECT = (
    rf"\bI(?:'ve|\s+have)\s+{_SOON}(?:<en>)\b(?!\s+{_TEXT_PART})",
    rf"^{_LEAD}{_THE}(?:[\w-]+\s+)?(?:{_THINGS})\s+ha(?:s|ve)\s+{_SOON}been\s+{_SOON}(?:<en>)\b",
    rf"^{_LEAD}(?:your|the)\s+(?:{_THINGS}){_TO}\s+ha(?:s|ve)\s+{_SOON}been\s+{_SOON}(?:<en>)\b"
    r"(?!\s+(?:by|back)\b)(?!.*\b(?:says?|according|writes)\b)",
    rf"^{_LEAD}(?:<en>)\s+{_OBJECT}",
    rf"^{_LEAD}{_THE}(?:{_THINGS})\s+(?:is|are)\s+(?:now\s+|successfully\s+)+(?:<en>)\b",
    rf"^{_LEAD}{_THE}(?:{_THINGS})\s+(?:<en>)(?:\s+(?:successfully|to|in|as|for|under|at|on)\b[^:]*)?{_END}",
    rf"^{_LEAD}(?:<en>)(?:\s+(?:to|in|as|under|for)\s+\S+(?:\s\S+){{0,3}})?{_END}",
    rf"^{_LEAD}(?:it|everything|all)(?:'s|\s+is|\s+has\s+been)\s+{_SOON}(?:<en>){_END}",
    r"\b(?:ich\s+habe?|habe?\s+ich)\b(?:[^.;:,]|\.(?=\w)){0,90}\b(?:<de>)\b",
    rf"^{_LEAD}{_DIE}(?:\w+\s+)?(?:{_DINGE})\s+(?:ist|sind)\s+{_BALD}{_NACH}(?:<de>){_END}",
    rf"^{_LEAD}{_DIE}(?:{_DINGE}){_AN}\s+(?:wurden?\s+{_BALD}{_NACH}|(?:ist|sind)\s+{_BALD})(?:<de>){_END}",
    rf"^{_LEAD}(?:(?:{_DINGE})\s+{_NACH})?(?:<de>){_END}",
)
_PAST = (  # counts in short replies only
    rf"^{_LEAD}I\s+{_SOON}(?:<en>)\b(?!\s+{_TEXT_PART})",
    rf"^{_LEAD}{_THE}(?:{_THINGS})\s+(?:was|were)\s+{_SOON}(?:<en>){_END}",
)
_WHOLE = {_Action.SAVED: (_NOTED,), _Action.SCHEDULED: (_STATE, _IN_CALENDAR, _PROMISE)}
_ITEM = (
    rf"^{_LEAD}(?:{'|'.join(english for english, _ in _VERBS.values())}|added|created)\s+(?:the|your|an?|both|all)\b"
)
"""A list without a subject says what was done, or what a tool has read of the work of others."""
_INQUIRY = (
    r"^\W*(?:what|which|when|where|who|any\w*|is|are|am|do|does|how|show|list|tell|at|was|welche\w*|wann|wie|wo|wer|ist|"
    r"sind|um|zeige?|nenne?|habe?|gibt|steht)\b"
)
_MESSAGES = r"\b(?:messages?|repl(?:y|ies)|posts?|nachricht(?:en)?|antwort(?:en)?|beitr[aä]ge?)\b"
_NOT_HERE = (  # negated, future, hypothetical, or done by another person
    r"\b(?:not|never|no|none|nothing|nobody|nowhere|neither|(?:zero|0)(?=\s[a-z])|if|when|once|unless|until|till|before|"
    r"whether|would|could|should|may|might|will|can|cannot|that|imagine|suppose|example(?!\.\w)|yesterday|earlier|"
    r"previously|already|ago|last|this morning|in \d{4}|was able|nichts?|kein\w*|nie\w*|nirgend\w*|weder|noch|"
    r"null(?=\s[a-zäöü])|wenn|falls|sobald|ob|bevor|bis|dass|würde\w*|könnte\w*|sollte\w*|kann|werden?|wird|beispiel\w*|"
    r"gestern|vorgestern|vorhin|früher|bereits|schon|letzte\w*|damals|heute (?:morgen|früh))\b|n't\b"
)
_CONTENT = (  # a statement and the clause that says what it tells
    rf"^({_LEAD}(?:I(?:'ve|\s+have)|ich\s+habe?)\b[^,;:]*),?\s(?:that|dass)\b[^?]*$"
)
_AND = (
    rf",?\s+and\s+(?=(?:{'|'.join(english for english, _ in _VERBS.values())}"
    r"|created|removed|added|set|updated|turned)\b)"
)
_DRAFTED = (
    r"^\s*(?:dear|hi|hello|hey|subject|betreff|sehr geehrte\w*|liebe[rs]?|hallo|guten tag|moin)\b"
    r"[^.!?\n]{0,60}[,:!]?\s*$|^\s*(?:subject|betreff)\s*:"
)
_IN_FILE = (  # a list or calendar that is a file
    r"\b[\w-]+\.(?:md|txt|ics|org|csv|json|ya?ml|html?|xlsx|docx)\b|\b(?:file|list|notes?|document|table|datei|liste|"
    r"notiz(?:en)?|dokument|tabelle)\b"
)
_WORDING = (  # a request to write text is answered with text
    r"\b(?:translat\w+|rephras\w+|reword\w+|rewrite|proofread\w*|draft|story|poem|novel|dialogue?|scene|joke|sketch|"
    r"lyrics|summari[sz]\w+|quote|example sentence|übersetz\w*|umformulier\w*|formulier\w*|korrigier\w*|entwurf|"
    r"entwirf|geschichte|gedicht|roman|dialog|szene|witz|fasse|zusammenfass\w*|zitier\w*|beispielsatz)\b"
)
_LOOKING_BACK = r"^\W*(?:did|have|has|had|was|were|when|who|hast|habt|hat|wurde\w*|ist|sind|wann|wer|hattest)\b[^?]*\?"


def find_unbacked(reply: str, asked: str, done: Collection[frozenset[Effect]]) -> Claim | None:
    """Return the first claim of the reply that no completed action backs, or None.

    `done` holds the effects of each tool that succeeded; `asked` is the text the reply answers.
    """
    if not _hint_pattern().search(reply):
        return None
    if _compile(_WORDING).search(asked) or _compile(_LOOKING_BACK).search(asked.strip()):
        return None
    for claim in _find_claims(reply):
        informs = _informs(claim.words, asked, done)
        in_file = any(map(_compile(_IN_FILE).search, (claim.words, asked)))
        backing = claim.effects | {Effect.WRITES} if in_file else claim.effects
        if not informs and not any(backing & effects for effects in done):
            return claim
    return None


def _informs(words: str, asked: str, done: Collection[frozenset[Effect]]) -> bool:
    """Return whether the sentence reports a state that the user asked for or a tool has read, or acknowledges only."""
    wanted = [request for claim, request in _ONLY_IF_ASKED.items() if _compile(claim).search(words)]
    if wanted and not _compile(wanted[0]).search(asked):
        return True
    listed = words.startswith(("-", "*", "•")) and _compile(_ITEM).search(words)
    if (listed or _compile(_IN_CALENDAR).search(words)) and any(effects & READING for effects in done):
        return True
    informing = any(_compile(each).search(words) for each in (_STATE, _IN_CALENDAR, _ITEM))
    return informing and bool(_compile(_INQUIRY).search(asked.strip()))


def _find_claims(reply: str) -> Iterator[Claim]:
    shown = "```" in reply  # the file that the reply speaks of may be the one it contains
    sentences = tuple(_split_sentences(_strip_quotes(reply)))
    for sentence in chain.from_iterable(map(_split_actions, sentences)):
        if shown and _compile(_FILE).search(sentence):
            continue
        if sentence.endswith("?") or _compile(_NOT_HERE).search(sentence):
            continue
        for action, (perfect, past) in _patterns().items():
            if perfect.search(sentence) or (len(sentences) <= _NARRATIVE_SENTENCES and past.search(sentence)):
                unsent = action is _Action.DELETED and _compile(_MESSAGES).search(sentence)  # a channel deletes it
                backing = _EFFECTS[_Action.SENT] if unsent else frozenset[Effect]()
                yield Claim(sentence[:_MAX_CLAIM_CHARS], _EFFECTS[action] | backing)


def _split_actions(sentence: str) -> Iterator[str]:
    """Yield each action of "I've sent it and deleted the file" as a sentence, without what others were told."""
    first, *others = _compile(_AND).split(_compile(_CONTENT).sub(r"\1.", sentence))
    yield first
    mine = _compile(rf"^{_LEAD}I(?:'ve|\s+have)?\b").search(first)
    yield from (f"I've {other}" for other in others if mine)


def _strip_quotes(reply: str) -> str:
    """Return the text without code, quotations and drafted letters."""
    text = re.sub("\u2019", "'", reply)
    text = re.sub(r"```.*?(?:```|\Z)|`[^`\n]*`", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\s*(?:>|\|).*$", " ", text, flags=re.MULTILINE)
    text = re.sub(r"[\"“„«»”][^\"“”„«»]{0,2000}[\"”“«»]", " … ", text)
    drafted = _compile(_DRAFTED, re.IGNORECASE | re.MULTILINE).search(text)
    return text[: drafted.start()] if drafted else text


def _split_sentences(text: str) -> Iterator[str]:
    for part in re.split(r"(?<=[.!?…])\s+|\n+", text):
        if sentence := " ".join(part[: 2 * _SEARCHED_CHARS].split()).strip(" _#").rstrip("*"):
            yield sentence[:_SEARCHED_CHARS]


@cache
def _compile(pattern: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    return re.compile(pattern, flags)


@cache
def _hint_pattern() -> re.Pattern[str]:
    """Return a cheap pattern that rules out most replies."""
    verbs = (verbs for form, verbs, _ in chain.from_iterable(_WITH_OBJECTS.values()) if form != "is")
    states = (
        "reminder|alarm|timer|erinner|wecker|booked|calendar|kalender|gebucht|remind|notiert|noted|aufgeschrieben|written|"
        "made|completed|ausgeführt|getätigt|way|raus|unterwegs|informed|benachrichtigt|informiert|angeschrieben|geplant"
    )
    return _compile("|".join((*chain.from_iterable(_VERBS.values()), *verbs, states)))


@cache
def _patterns() -> Mapping[_Action, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return two patterns per action: one for any text, one for short replies only."""
    made = {}
    for action in _Action:
        en, de = _VERBS.get(action, ("", ""))
        claims = [
            _FORMS[form].replace("<verbs>", verbs).replace("<object>", thing)
            for form, verbs, thing in _WITH_OBJECTS[action]
        ]
        claims += (
            *_WHOLE.get(action, ()),
            *(each.replace("<en>", en).replace("<de>", de) for each in _WITH_ANY_OBJECT if en),
        )
        past = "|".join(each.replace("<en>", en) for each in _PAST if en)
        made[action] = _compile("|".join(claims)), _compile(past or "(?!)")
    return made
