"""Whether a message states something as its writer's own, judged by the clause that contains it. English and German.

Reported speech, quotations, denials, suppositions, wishes, and statements about other people do not count. A rule that
is too strict loses a fact, which will be said again; a rule that is too lax turns a claim into a fact.
"""

import re
from collections.abc import Iterator
from enum import IntEnum, auto

from hob.store.memory.analysis import words_of


class Stated(IntEnum):
    """How certainly a message states something, in ascending order."""

    NOT = auto()
    SUPPOSED = auto()
    """Stated as a possibility."""
    STATED = auto()


_KIN = (
    "brother|sister|sibling|wife|husband|partner|spouse|mother|mom|mum|father|dad|parent|son|daughter|kid|child|"
    "children|friend|girlfriend|boyfriend|boss|manager|colleague|coworker|neighbou?r|cousin|uncle|aunt|grandmother|"
    "grandma|grandfather|grandpa|nephew|niece|roommate|flatmate|landlord|landlady|teacher|doctor|ex|"
    "bruder|schwester|geschwister|frau|mann|mutter|mama|vater|papa|eltern|sohn|tochter|kind|kinder|freund|freundin|"
    "chef|chefin|kollege|kollegin|kollegen|nachbar|nachbarin|cousine|onkel|tante|oma|opa|neffe|nichte|mitbewohner|"
    "mitbewohnerin|vermieter|vermieterin|lehrer|lehrerin|arzt|ärztin|family|familie"
)
_MY = "my|our|mein|meine|unser|unsere"
_SELF = "i|we|ich|wir"
_BEGINS = rf"(?:{_SELF}|i['\u2019]\w+|{_MY})\b"
_QUOTED = re.compile(
    '["\u201c\u201d\u201e\u00ab\u00bb]([^"\u201c\u201d\u201e\u00ab\u00bb]*)(?:["\u201c\u201d\u00ab\u00bb]|$)|'
    r"(?<!\w)['\u2018\u201a]([^'\u2018\u2019\n]{8,})['\u2019\u2018](?!\w)|"
    "`[^`\n]+`|[\u2039\u300c\u300e][^\u203a\u300d\u300f]+[\u203a\u300d\u300f]"
)
_TO_REWORD = re.compile(
    r"^\W*(?:please |bitte |(?:can|could|would) you (?:please )?|kannst du (?:bitte )?)?(?:translate|rephrase|"
    r"paraphrase|proofread|rewrite|pretend|übersetz\w*|formulier\w*|korrigier\w*|stell dir vor)\b",
    re.I,
)
"""The beginning of a message whose text is to be worked on."""
_LINE_END = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]+")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_COLON = re.compile(r":(?=\s|$)")
_REPORTED = re.compile(
    r"\b(?:says?|said|writes?|wrote|written|tells?|told|claim(?:s|ed)?|think(?:s|ing)?|thought|believes?|believed|"
    r"states?|stated|texted|replied|replies|posted|goes(?=[:,])|(?:was|were) like(?=[:,])|mentioned|"
    r"insists?|insisted|suggests?|suggested|asks?|asked|heard|read|reads|"
    r"sagt\w*|gesagt|schreib(?:t|en)|schrieb\w*|geschrieben|meint\w*|gemeint|behaupte\w*|glaubt\w*|denkt|dachte|"
    r"erzählt\w*|gehört|gelesen|findet)\b",
    re.I,
)
_ACCORDING = re.compile(
    r"\b(?:according to|laut|zufolge|apparently|allegedly|supposedly|angeblich|quote|zitat)\b|"
    r"^\W*(?:from|von|mail|e-?mail|message|nachricht|sms)\b[^.!?\n]{0,60}:",
    re.I,
)
_SAY = "says?|said|writes?|wrote|claims|claimed|sagte?|schreibt|schrieb|meinte?|behauptete?"
_CREDITED = re.compile(
    rf",\s*(?:(?:so|as|wie)\s+)?(?:(?:{_SAY})\s+(?!(?:{_SELF})\b)|(?!(?:{_SELF})\b)\w+\s+(?:{_SAY})\b)", re.I
)
_CALLED = re.compile(rf"^\W*(?P<name>[A-Z][\w-]+):\s.*\b(?:{_SELF}|my|mein\w*)\b", re.I)
_HEADINGS = frozenset({
    "note", "update", "fyi", "ps", "info", "hinweis", "correction", "korrektur", "remember", "reminder", "fact",
    "facts", "also", "btw", "edit", "merke", "wichtig", "important", "nb", "about", "me", "self", "ich",
})  # fmt: skip
_OWN_WORDS = re.compile(rf"\b(?:{_SELF})(?:['\u2019]\w+)?(?:\s+\w+){{0,2}}\s+$", re.I)
_TOLD_ME = re.compile(r"\b(?:was|am|were|been|got|wurde|worden)(?:\s+\w+)?\s+$", re.I)
_HEARD = re.compile(r"heard|read|reads|gehört|gelesen", re.I)
_SPLIT = re.compile(
    r"[:;()\u2013\u2014](?=\s|\w|$)|\s-\s|"
    r"\b(?:but|however|although|though|because|sondern|aber|jedoch|weil|obwohl)\b|"
    r"(?=\b(?:instead of|rather than|statt|anstatt)\b)|"
    rf"\b(?:that|dass|since|as|when|while|seit|seitdem|nachdem|da|and|und|now)\s+(?=(?:now |jetzt )?{_BEGINS})|"
    r"\b(?:and|und)\s+(?=(?:not|nicht|now|jetzt|live|work|moved|wohne|lebe|arbeite|bin|ziehe)\b)|"
    rf",\s*(?=(?:and |und |so |now |jetzt |then |dann )?(?:{_BEGINS}|(?:not|nicht|no|kein\w*|never|nie|it|es|he|she|"
    r"they|who|which|where|wo|der|die|das|now|jetzt|since|seit|then|dann|moved|live|living|work|working|am|switched|"
    r"changed|bin|wohne|lebe|arbeite)\b))|(?<=^no),|(?<=^nein),",
    re.I,
)
_HARMLESS = re.compile(
    r"\b(?:not only|not just|nicht nur|(?:do not|don['\u2019]?t) (?:ever )?forget|vergiss nicht|no doubt|no problem)\b",
    re.I,
)
_DENIED = re.compile(
    r"\b(?:not|never|no|nor|neither|none|cannot|dont|doesnt|isnt|arent|wasnt|stopped|quit|nicht|nie|niemals|kein\w*|"
    r"weder|instead of|rather than|statt|anstatt)\b|n['\u2019]t\b",
    re.I,
)
_SUPPOSED = re.compile(
    r"\b(?:would|should|could|might|maybe|perhaps|wish|hope|hoping|want|wants|dream\w*|imagine|suppose|pretend|"
    r"considering|thinking (?:of|about)|(?:i|we|he|she|they) may|not sure|würde\w*|könnte\w*|soll|sollte\w*|wäre\w*|"
    r"hätte\w*|möchte\w*|dürfte\w*|vielleicht|hoffe|träume|wünsch\w*|eventuell)\b|\b\w+['\u2019]d\b",
    re.I,
)
_DREAMT = re.compile(r"\b(?:in (?:a|my|the|that|einem|meinem) (?:dream|traum)|im traum|dream(?:t|ed)|geträumt)\b", re.I)
_CONDITION = re.compile(r"\b(?:if|unless|whether|in case|wenn|falls|ob)\b(?!.*\b(?:that|dass)\b)", re.I)
_WISHES = frozenset({
    "want", "wants", "wish", "wishes", "would", "hope", "hopes", "dream", "dreams", "plan", "plans",
    "considering", "wants_to",
})  # fmt: skip
_HATES = re.compile(
    r"\b(?:hat(?:e|es|ed)|dislike\w*|detest\w*|loath\w*|despise\w*|hasse|hasst|verabscheue\w*|avoid\w*)\b", re.I
)
_LIKES = re.compile(r"\b(?:like|likes|love|loves|enjoy|enjoys|prefer|prefers|mag|liebe|gern|gerne)\b", re.I)
_LIKING = frozenset({
    "like", "likes", "love", "loves", "enjoy", "enjoys", "prefer", "prefers", "favourite",
})  # fmt: skip
_DISLIKING = frozenset({
    "dislike", "dislikes", "hate", "hates", "avoid", "avoids", "stand",
})  # fmt: skip
_DENYING = frozenset({
    "not", "no", "never", "cannot", "without", "allergic", "allergy", "intolerant", "intolerance", "former",
    "formerly", "ex", "quit", "stopped", "left",
})  # fmt: skip
_IS_SELF = re.compile(
    rf"\b(?:{_SELF})\b|\b(?:my|our|mein\w*|unser\w*)\b(?!\s+(?:\w+\s+)?(?:{_KIN})\b)|\b(?:mir|mich|uns)\b", re.I
)
_VERB = r"(?:\w+(?:s|ed)|had|went|got|wohnt|lebt|arbeitet|heißt|hat|ist|war|zog|zieht|mag|liebt|kommt)\b"
_NO_NAME = "who|i|we|ich|wir|my|our|it|this|that|there|mein|meine|unser|unsere|das|es"
_IS_OTHER = re.compile(
    rf"(?:(?:^|\b(?:and|but|that|because|und|aber|dass|weil|says|thinks)\b|,)\W*(?:(?i:{_MY}|a|the|ein|eine)\s+)"
    rf"(?:\w+\s+)?(?i:{_KIN})\b)|"
    rf"\b(?:lebt|wohnt|arbeitet|ist|war|hat|heißt|zog|mag)\s+(?i:mein|meine|unser|unsere)\s+(?:\w+\s+)?(?i:{_KIN})\b|"
    r"\b(?i:he|she|they|his|her|their|your|you|er|sie|ihr|ihre|seine|dein|deine|du)\b|"
    rf"(?:^|\b(?:and|but|that|because|und|aber|dass|weil)\s|,)\W*(?!(?i:{_NO_NAME})\b)"
    rf"[A-Z]\w+(?:\s[A-Z]\w+)?\s+{_VERB}"
)
_OTHERS_KIN = re.compile(rf"\b(?:{_KIN})['\u2019]s\s+(?:{_KIN})\b", re.I)
_KIN_WORDS = frozenset(_KIN.replace("neighbou?r", "neighbor|neighbour").split("|")) | {"siblings", "friends", "parents"}


def stated(words: str, object_: str, predicate: str = "", *, owner: bool = True, ended: bool = False) -> Stated:
    """Return how certainly the words state this object with the predicate, about the `owner` or a person they name.

    With `ended`, return how certainly they state that it no longer holds, which may be a denial.
    """
    found = (_stated(*each, object_, predicate, owner, ended) for each in _clauses(words, object_))
    return max(found, default=Stated.NOT)


def is_own(words: str, text: str) -> bool:
    """Return whether the text is in a sentence of the writer's own, in any wording."""
    return any(True for _ in _clauses(words, text))


def _stated(clause: str, before: str, object_: str, predicate: str, owner: bool, ended: bool) -> Stated:
    """Judge one clause, given the part of its sentence before the object."""
    wanted = {*predicate.split("_")}
    place = _place(clause, object_)
    rest = _HARMLESS.sub(" ", clause)
    denied = any(not _part_of(match[0], object_) for match in _DENIED.finditer(rest))
    if wanted & (_LIKING | _DISLIKING):
        denied ^= bool(_HATES.search(rest))
        if (denied and wanted & _LIKING) or (not denied and wanted & _DISLIKING and _LIKES.search(rest)):
            return Stated.NOT
    elif denied and not ended and not wanted & _DENYING:
        return Stated.NOT
    if owner and _tells_of_others(clause[:place], wanted, {*words_of(object_)}):
        return Stated.NOT
    supposed = _SUPPOSED.search(clause[:place]) or _DREAMT.search(f"{before} {clause}") or _CONDITION.search(before)
    if supposed and not wanted & _WISHES:
        return Stated.SUPPOSED
    return Stated.STATED


def _tells_of_others(before: str, wanted: set[str], object_: set[str]) -> bool:
    others = (match.end() for match in _IS_OTHER.finditer(before) if object_.isdisjoint(words_of(match[0])))
    own = max((match.end() for match in _IS_SELF.finditer(before)), default=0)
    if wanted & _KIN_WORDS:
        return bool(_OTHERS_KIN.search(before))
    return max(others, default=0) > own


def _part_of(word: str, object_: str) -> bool:
    return {*words_of(word)} <= {*words_of(object_)}


def _clauses(words: str, object_: str) -> Iterator[tuple[str, str]]:
    """Yield the clauses that contain the object in the writer's own words, each with the part of its sentence before
    the object.
    """
    wanted = {*words_of(object_)}
    if _TO_REWORD.match(words):
        return
    own = _QUOTED.sub(lambda match: match[0] if {*words_of(match[0])} <= wanted else " \u2026 ", words)
    found = False
    for sentence in _sentences(own):
        if not wanted <= {*words_of(sentence)}:
            continue
        found = True
        if not sentence.rstrip().endswith("?") and not _reported(sentence, object_):
            parts = [part.strip() for part in _SPLIT.split(sentence)]
            carrying = [part for part in parts if wanted <= {*words_of(part)}] or [sentence]
            yield from ((part, sentence[: _place(sentence, object_)]) for part in carrying)
    if not found and wanted <= {*words_of(own)} and not _reported(own, object_):
        yield own, own[: _place(own, object_)]


def _sentences(text: str) -> Iterator[str]:
    """Split into sentences. Text after a speaker's `said:` belongs to it up to the end of the line, or to the end of
    the text if the line ends there.
    """
    lines = _LINE_END.split(text)
    for place, each in enumerate(lines):
        mark = _COLON.search(each)
        whole = mark is not None and _reported(each[: mark.end()], "")
        if mark is not None and whole and not each[mark.end() :].strip():
            yield " ".join(lines[place:])
            return
        yield from [each] if whole else filter(None, _SENTENCE.split(each))


def _reported(sentence: str, object_: str) -> bool:
    """Return whether the object is in reported speech, or, without an object, whether the whole sentence is."""
    before = sentence[: _place(sentence, object_)] if object_ else sentence
    called = _CALLED.match(sentence)
    if _ACCORDING.search(sentence) or _CREDITED.search(sentence[len(before) :]):
        return True
    if called is not None and called["name"].lower() not in _HEADINGS:
        return True
    return any(_by_others(before, match) for match in _REPORTED.finditer(before))


def _by_others(text: str, match: re.Match[str]) -> bool:
    ahead = text[: match.start()]
    own = _OWN_WORDS.search(ahead) or re.match(rf"\s+(?:{_SELF})\b", text[match.end() :], re.I)
    return own is None or bool(_TOLD_ME.search(ahead)) or bool(_HEARD.fullmatch(match[0]))


def _place(text: str, object_: str) -> int:
    """Return the position of the object in the text."""
    low, words = text.lower(), words_of(object_)
    at = low.rfind(object_.lower())
    return at if at >= 0 or not words else max(0, low.rfind(max(words, key=len)))
