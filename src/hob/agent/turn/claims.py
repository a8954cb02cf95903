"""Detect replies that claim an action no tool of the turn performed. Pure rules over words.

A claim is a sentence in which Hob says that something is done: "I've sent the mail", "Termin eingetragen.". Statements
about other people or earlier actions, questions, denials, possibilities, quotations and drafts are not claims: missing
a claim is better than accusing a harmless reply. A call whose effects could have done it backs the claim, whatever the
tool is called.
"""

import re
from collections.abc import Collection, Iterator
from enum import StrEnum
from functools import cache
from itertools import chain
from typing import NamedTuple

from hob.core.tools import Effect

ABOUT_CLAIM = "unbacked claim"
"""The `about` of a note on such a claim."""
_MAX_CLAIM_CHARS = 160  # characters of a claim that are shown
_SEARCHED_CHARS = (
    400  # characters of a sentence that are searched: a claim is short, and rules cost more than linear time
)
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


_WRITING = frozenset({Effect.WRITES, Effect.WRITES_FINALLY, Effect.PERSISTS, Effect.EXECUTES})
READING = frozenset({Effect.READS_PRIVATE, Effect.READS_UNTRUSTED})
"""Effects that back no claim; they may show that a statement is information."""
_EFFECTS = {
    _Action.SENT: frozenset({Effect.COMMUNICATES}),
    _Action.SAVED: _WRITING,
    _Action.DELETED: _WRITING,
    _Action.SCHEDULED: (_WRITING | {Effect.COMMUNICATES}) - {Effect.WRITES},  # a written file reminds of nothing
}
_ENGLISH = {
    _Action.SENT: "sent|emailed|e-mailed|forwarded|submitted|transferred|delivered|posted|paid|messaged|"
    "texted|notified|uploaded",
    _Action.SAVED: "saved|stored",
    _Action.DELETED: "deleted|erased",
    _Action.SCHEDULED: "scheduled|rescheduled|booked|reserved",
}
_GERMAN = {
    _Action.SENT: "gesendet|geschickt|verschickt|abgeschickt|versendet|weitergeleitet|abgesendet|überwiesen|bezahlt|"
    "hochgeladen|bestellt",
    _Action.SAVED: "gespeichert|abgespeichert",
    _Action.DELETED: "gelöscht",
    _Action.SCHEDULED: "eingetragen|eingeplant|terminiert|vorgemerkt|gebucht|reserviert",
}
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
_MADE = r"\bI(?:'ve|\s+have)?\s+(?:just\s+|now\s+|successfully\s+)*"
_HAVE = r"\bI(?:'ve|\s+have)\s+(?:just\s+|now\s+|also\s+)*"
_HABE = r"\b(?:ich\s+habe?|habe?\s+ich)\b[^.;:,]{0,60}\b"
_WHOM = r"(?:ihr|ihm|ihnen|(?:dem|der|das|die|deine[mrn]?)\s+\w+|(?-i:[A-ZÄÖÜ])\w+)"
_PERSON = r"(?:him|her|them|everyone|everybody|(?:the|your)\s+(?:team|group|landlord|boss)|(?-i:[A-Z])\w+)\b"
_TOGETHER = r"everyone|everybody|(?:the|your)\s+(?:team|group|landlord|boss)|alle|das\s+team|die\s+gruppe"
_REACHED = rf"(?:{_TOGETHER}|(?:(?-i:[A-ZÄÖÜ])\w+\s+(?:and|und)\s+)?(?-i:[A-ZÄÖÜ])\w+)"
_WRITTEN = (  # what can be written, without an article; any other such word is a name
    r"\w*(?:tests?|texte?|code|gedichte?|notizen|geschichten?|briefe|mails|nachrichten|artikel|sätze|zeilen|absätze|"
    r"kommentare?|skripte?|programme|funktionen|klassen|dokumentation|doku|prosa|lyrik|lieder|songs|posts|beiträge|"
    r"listen|aufgaben|übungen|fragen|antworten|beispiele|varianten|vorschläge|entwürfe|zusammenfassungen?|bücher|"
    r"haikus?|limericks?|dialoge?|regeln|ungen|verse|strophen|szenen|kapitel|essays?|reden|rezepte|pläne|witze|sprüche|"
    r"slogans|titel|memos|seiten|wörter|reime|python|java|rust|ruby|perl|bash|markdown|englisch|deutsch)\b"
)
_FILE = r"(?:the\s+)?(?:new\s+)?(?:file\s+)?[\w/-]*\w{2}\.[a-z]\w{1,4}\b"
_SHOWN = r"(?!.*(?::$|\b(?:below|above|from\s+the\s+(?:list|table|text))\b))"  # the reply itself contains it
_SOON = "just|now|successfully|also|gone ahead and|went ahead and|since|then|safely"
_BALD = "soeben|gerade|jetzt|nun|erfolgreich|damit|hiermit|auch"
_LEAD = (
    r"[✅✔☑\ufe0f🎉📧\s*•_-]*(?:(?:ok(?:ay)?|done|all set|great|sure|perfect|alright|yes|indeed|of course|truly|"
    r"absolutely|certainly|erledigt|fertig|gut|alles klar|ja|natürlich|klar|gerne?|selbstverständlich)\b"
    r"[\s,.:!;\u2013\u2014-]*)*"
)
_TOLD = (
    rf"(?:\bich\s+habe?\s+(?:(?:soeben|gerade|eben|jetzt|auch)\s+)*{_WHOM}|^{_LEAD}{_WHOM}\s+habe?\s+ich)\s+"
    r"(?:[^.;:,]{0,40}\s)?"
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
_ITEM = rf"^{_LEAD}(?:{'|'.join((*_ENGLISH.values(), 'added', 'created'))})\s+(?:the|your|an?|both|all)\b"
"""A list without a subject says what was done, or what a tool has read of the work of others."""
_INQUIRY = (
    r"^\W*(?:what|which|when|where|who|any\w*|is|are|am|do|does|how|show|list|tell|at|was|welche\w*|wann|wie|wo|wer|ist|"
    r"sind|um|zeige?|nenne?|habe?|gibt|steht)\b"
)
_FURTHER = {  # words that claim an action only with certain objects: plans are created and words removed, too
    _Action.SENT: (
        rf"^{_LEAD}(?:(?:your|the|this)\s+)?(?:payment|transfer)\b[^.;:]{{0,40}}\b(?:made|completed)\b",
        rf"^{_LEAD}(?:(?:die|deine)\s+)?(?:zahlung|überweisung)\b[^.;:]{{0,40}}\b(?:ausgeführt|getätigt)\b",
        rf"^{_LEAD}(?:die|deine)\s+(?:e-?mail|mail|nachricht|einladung|antwort){_AN}\s+ist\s+(?:jetzt\s+)?(?:raus|unterwegs)[.!]*$",
        rf"^{_LEAD}(?:the|your)\s+(?:e-?mail|mail|message|invitation|reply){_TO}\s+is\s+(?:now\s+)?on\s+its\s+way\b",
        rf"{_HAVE}(?:told|contacted)\s+{_PERSON}(?:\s+about\b[^.;:]*)?[.!]*$",
        rf"{_HAVE}(?:committed\s+and\s+)?pushed\s+(?:the|your|all)\s+(?:the\s+)?(?:changes|commits?|branch)\b",
        rf"{_HAVE}ordered\s+(?:the|your|an?|two|three|some)\s+(?!list|items?|entries|files|results|names|rows|steps|points|words)"
        r"[\w-]+(?:\s+[\w-]+)?[.!]*$",
        rf"{_HAVE}(?:replied\s+to|informed)\s+{_PERSON}",
        rf"{_HAVE}let\s+{_PERSON}\s+know\b",
        rf"{_HAVE}invited\s+{_PERSON}",
        rf"{_HAVE}shared\s+(?:it|(?:the|your)\s+[\w.-]+)\s+with\s+{_PERSON}",
        rf"^{_LEAD}{_REACHED}\s+(?:has|have)\s+(?:now\s+|just\s+|also\s+)*been\s+"
        r"(?:notified|informed|messaged|e-?mailed|texted)(?:\s+(?:about\b[^.;:,]*|(?:by|via)\s+(?:e-?mail|mail|text|message)))?[.!]*$",
        rf"^{_LEAD}{_REACHED}\s+wurden?\s+(?:(?:{_BALD}|per\s+(?:e-?mail|mail|nachricht|sms))\s+)*"
        r"(?:benachrichtigt|informiert|angeschrieben)[.!]*$",
        rf"{_TOLD}(?:geantwortet|bescheid\s+(?:gegeben|gesagt)|informiert|benachrichtigt)\b",
        r"\bich\s+habe?\s+(?:ihr|ihm|ihnen)\s+(?:[^.;:,]{0,40}\s)?geschrieben\b",
        rf"\bich\s+habe?\s+(?:(?:{_BALD})\s+)*(?:an\s+|deine[mnr]\s+\w+\s+|(?!{_WRITTEN})(?-i:[A-ZÄÖÜ][a-zäöüß]+)\s+)"
        r"(?:(?:(?:eine?n?|die|den|das)\s+)?(?-i:[A-ZÄÖÜ])\w+\s+)?geschrieben(?:[.!]*$|,)",
        rf"^{_LEAD}(?!{_WRITTEN})(?-i:[A-ZÄÖÜ][a-zäöüß]+)\s+habe?\s+ich\s+(?:(?:{_BALD})\s+)*geschrieben(?:[.!]*$|,)",
        rf"\bich\s+habe?\s+(?:(?:{_BALD})\s+)*(?:{_WHOM})\s+(?:[^.;:,]{{0,40}}\s)?eingeladen\b",
    ),
    _Action.SAVED: (
        rf"{_MADE}(?:created|written)\s+(?:the\s+)?(?:file|folder)\s+[\w./-]+",
        rf"{_SHOWN}{_MADE}created\s+{_FILE}",
        rf"{_SHOWN}{_MADE}(?:written|wrote)\b[^.;:]{{0,60}}\s(?:to|into)\s+{_FILE}",
        rf"^{_LEAD}(?:created|wrote)\s+{_FILE}[.!]*$",
        rf"{_SHOWN}{_HAVE}(?:updated|edited|renamed|overwritten|moved)\s+{_FILE}",
        rf"{_HABE}{_FILE}(?:\s[^.;:]{{0,40}})?\s(?:erstellt|angelegt|geschrieben)\b",
    ),
    _Action.DELETED: (
        rf"{_MADE}removed\s+(?:the|your)\s+(?:file|folder|reminder|appointment|event)\b",
        rf"{_SHOWN}{_MADE}removed\s+{_FILE}",
        rf"^{_LEAD}removed\s+{_FILE}[.!]*$",
        rf"{_HABE}{_FILE}\s+entfernt\b",
    ),
    _Action.SCHEDULED: (
        rf"{_MADE}(?:set|created|added|put)\b[^.;:]{{0,60}}\b(?:reminder|calendar|appointment)\b",
        _STATE,
        _IN_CALENDAR,
        rf"^{_LEAD}an?\s+(?:reminder|alarm|timer)\s+has\s+been\s+(?:now\s+)?(?:set|created|scheduled)\b(?!.*\bby\b)",
        rf"^{_LEAD}added\s+(?:it|(?:the|your|an?)\s[^.;:]{{1,50}})\s+(?:to|in)\s+(?:your|the)\s+calendar\b",
        rf"{_HAVE}(?:created|made)\s+(?:the|an?|your)\s+(?:new\s+)?(?:event|reservation|booking)"
        r"(?:\s+(?:at|for|in|with|on)\b[^.;:]*)?[.!]*$",
        rf"{_HAVE}cancell?ed\s+(?:the|your)\s+(?:[\w-]+\s+)?(?:appointment|meeting|call|reservation|booking|subscription|order|"
        r"flight|table|event|reminder)\b",
        rf"{_HABE}(?:termin|treffen|besprechung|reservierung|buchung|bestellung|abo|tisch|flug)\b[^.;:,]{{0,40}}"
        r"\b(?:abgesagt|storniert|gekündigt)\b",
        rf"^{_LEAD}(?:your\s+)?(?:reminder|alarm|timer)\s+(?:is\s+|has\s+been\s+)?(?:now\s+)?(?:set|created|added)\b[^.;:,]*[.!]*$",
        rf"{_HABE}(?:wecker|timer|alarm)\b[^.;:,]{{0,40}}\b(?:gestellt|gesetzt|eingerichtet)\b",
        rf"{_HABE}(?:termin|erinnerung)\b[^.;:,]{{0,40}}\b(?:angelegt|erstellt|gesetzt|eingerichtet)\b",
        rf"^{_LEAD}ich\s+habe?\s+(?:es|das|(?:den|die|deine?n?)\s+(?:termin|erinnerung|treffen|besprechung))\s+"
        r"(?:(?:für|auf|am|um)\s[^.;:,]{1,40}\s)?geplant[.!]*$",
    ),
}
_MESSAGES = r"\b(?:messages?|repl(?:y|ies)|posts?|nachricht(?:en)?|antwort(?:en)?|beitr[aä]ge?)\b"
_NOT_HERE = (  # negated, future, hypothetical, or done by another person
    r"\b(?:not|never|no|none|nothing|nobody|nowhere|neither|(?:zero|0)(?=\s[a-z])|if|when|once|unless|until|till|before|"
    r"whether|would|could|should|may|might|will|can|cannot|that|imagine|suppose|example(?!\.\w)|yesterday|earlier|"
    r"previously|already|ago|last|this morning|in \d{4}|was able|nichts?|kein\w*|nie\w*|nirgend\w*|weder|noch|"
    r"null(?=\s[a-zäöü])|wenn|falls|sobald|ob|bevor|bis|dass|würde\w*|könnte\w*|sollte\w*|kann|werden?|wird|beispiel\w*|"
    r"gestern|vorgestern|vorhin|früher|bereits|schon|letzte\w*|damals|heute (?:morgen|früh))\b|n't\b"
)
_CONTENT = rf"^({_LEAD}(?:I(?:'ve|\s+have)|ich\s+habe?)\b[^,;:]*),?\s(?:that|dass)\b[^?]*$"
"""A statement and the clause that says what it tells."""
_AND = rf",?\s+and\s+(?=(?:{'|'.join((*_ENGLISH.values(), 'created', 'removed', 'added', 'set', 'updated'))})\b)"
_DRAFTED = (
    r"^\s*(?:dear|hi|hello|hey|subject|betreff|sehr geehrte\w*|liebe[rs]?|hallo|guten tag|moin)\b"
    r"[^.!?\n]{0,60}[,:!]?\s*$|^\s*(?:subject|betreff)\s*:"
)
_TEXT_PARTS = (  # parts of a text that the reply itself contains
    r"(?:(?:the|your|this|that|all|each|every|both|a|one|two|three|some|extra|first|second|last)\s+)*"
    r"(?:sentence|paragraph|word|comma|line|section|duplicate|clause|phrase|bullet|you\b)"
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
    """Return whether the sentence reports a state that the user asked for or a tool has read."""
    listed = words.startswith(("-", "*", "•")) and _compile(_ITEM).search(words)
    if (listed or _compile(_IN_CALENDAR).search(words)) and any(effects & READING for effects in done):
        return True
    states = (_STATE, _IN_CALENDAR, _ITEM)
    return any(_compile(each).search(words) for each in states) and bool(_compile(_INQUIRY).search(asked.strip()))


def _find_claims(reply: str) -> Iterator[Claim]:
    shown = "```" in reply  # the file that the reply speaks of may be the one it contains
    sentences = tuple(_split_sentences(_strip_quotes(reply)))
    for sentence in chain.from_iterable(map(_split_actions, sentences)):
        if shown and _compile(_FILE).search(sentence):
            continue
        if sentence.endswith("?") or _compile(_NOT_HERE).search(sentence):
            continue
        for action, patterns in _patterns().items():
            perfect, past = patterns
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
    further = "reminder|calendar|appointment|termin|erinnerung|raus|created|written|wrote|removed|payment|transfer|"
    further += (
        "zahlung|überweisung|gestellt|alarm|timer|wecker|replied|let|geantwortet|geschrieben|bescheid|informiert|"
    )
    further += "benachrichtigt|informed|entfernt|erstellt|angelegt|geplant|kalender|invited|shared|updated|edited|"
    further += "told|contacted|pushed|ordered|moved|way|unterwegs|reservation|booking|added|event|"
    further += "renamed|overwritten|cancel|abgesagt|storniert|gekündigt|eingeladen|angeschrieben"
    return _compile("|".join((*_ENGLISH.values(), *_GERMAN.values(), further)))


@cache
def _patterns() -> dict[_Action, tuple[re.Pattern[str], re.Pattern[str]]]:
    """Return two patterns per action: one for any text, one for short replies only."""
    soon, bald = f"(?:(?:{_SOON})\\s+)*", f"(?:(?:{_BALD})\\s+)*"
    the = r"(?:(?:your|the|this)\s+)?"
    das = r"(?:(?:die|der|das|deine?|ihre?)\s+)?"
    have = rf"\bI(?:'ve|\s+have)\s+{soon}"
    within = r"(?:[^.;:,\d]{0,40}\s)?"
    made: dict[_Action, tuple[re.Pattern[str], re.Pattern[str]]] = {}
    for action in _Action:
        en, de = _ENGLISH[action], _GERMAN[action]
        plain = rf"(?!\s+(?:{_TEXT_PARTS}))"
        claims = [
            rf"{have}(?:{en})\b{plain}",
            rf"^{_LEAD}{the}(?:[\w-]+\s+)?(?:{_THINGS})\s+ha(?:s|ve)\s+{soon}been\s+{soon}(?:{en})\b",
            rf"^{_LEAD}(?:your|the)\s+(?:{_THINGS}){_TO}\s+ha(?:s|ve)\s+{soon}been\s+{soon}(?:{en})\b"
            r"(?!\s+(?:by|back)\b)(?!.*\b(?:says?|according|writes)\b)",
            rf"^{_LEAD}(?:{en})\s+{_OBJECT}",
            rf"^{_LEAD}{the}(?:{_THINGS})\s+(?:is|are)\s+(?:now\s+|successfully\s+)+(?:{en})\b",
            rf"^{_LEAD}{the}(?:{_THINGS})\s+(?:{en})(?:\s+(?:successfully|to|in|as|for|under|at|on)\b[^:]*)?[.!]*$",
            rf"^{_LEAD}(?:{en})(?:\s+(?:to|in|as|under|for)\s+\S+(?:\s\S+){{0,3}})?[.!]*$",
            rf"^{_LEAD}(?:it|everything|all)(?:'s|\s+is|\s+has\s+been)\s+{soon}(?:{en})[.!]*$",
            rf"\b(?:ich\s+(?:habe|hab)|(?:habe|hab)\s+ich)\b(?:[^.;:,]|\.(?=\w)){{0,90}}\b(?:{de})\b",
            rf"^{_LEAD}{das}(?:\w+\s+)?(?:{_DINGE})\s+(?:ist|sind)\s+{bald}{within}(?:{de})[.!]*$",
            rf"^{_LEAD}{das}(?:{_DINGE}){_AN}\s+wurden?\s+{bald}{within}(?:{de})[.!]*$",
            rf"^{_LEAD}{das}(?:{_DINGE}){_AN}\s+(?:ist|sind)\s+{bald}(?:{de})[.!]*$",
            rf"^{_LEAD}(?:{_DINGE})\s+{within}(?:{de})[.!]*$",
            rf"^{_LEAD}(?:{de})[.!]*$",
        ]
        claims += _FURTHER.get(action, ())
        past = [
            rf"^{_LEAD}I\s+{soon}(?:{en})\b{plain}",
            rf"^{_LEAD}{the}(?:{_THINGS})\s+(?:was|were)\s+{soon}(?:{en})[.!]*$",
        ]
        made[action] = _compile("|".join(claims)), _compile("|".join(past))
    return made
