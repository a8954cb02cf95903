"""Rule-based query understanding: words, dates, phrases and the kind of answer. English and German."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from hob.core.values import dataclass
from hob.store.memory.analysis import MONTHS, SMALL_WORDS, words_of

_QUOTED = re.compile('["\u201c\u201e\u00ab]([^"\u201c\u201d\u201e\u00ab\u00bb]{3,80})["\u201c\u201d\u00bb]')
_WHEN = re.compile(
    r"\b(when|wann)\b|\b(what|which) (date|day|month|year|time)|\bwelche[mnrs]? (tag|monat|jahr|datum)|wievielten", re.I
)
_NAMES = re.compile(
    r"\b(who(m|se)?|where|wer|wem|wen|wessen|wo|wohin|woher)\b|"
    r"\b(what|which|welche[mnrs]?) (city|country|place|state|stadt|land|ort)",
    re.I,
)
_OWN = re.compile(r"\b(i|my|me|we|our|ich|mein\w*|mir|mich|wir|unser\w*|uns)\b", re.I)
_ASSISTANTS = re.compile(
    r"\b(you|your) (\w+ )?(told|suggest\w*|recommend\w*|mention\w*|said|gave|wrote|provided|listed|shared|described|"
    r"explained|advised|created|made|came)|remind me|"
    r"(our|the|my) (previous|earlier|last|past) (chat|conversation|discussion)|we (talked|discussed|spoke|chatted)|"
    r"\b(hast du|du) (\w+ ){0,4}(gesagt|empfohlen|vorgeschlagen|erwähnt|geschrieben|genannt|erklärt|gegeben)|"
    r"erinnere mich|unser\w* (letzt|vorig|früher)\w* (gespräch|chat|unterhaltung)|"
    r"haben wir (\w+ ){0,3}(gesprochen|geredet|besprochen)",
    re.I,
)
_ADVICE = re.compile(
    r"\b(recommend|suggest(ions?)?|any (tips|advice|ideas)|what should i|ideas? for|tips)\b|"
    r"\b(empfehl\w*|empfiehl\w*|vorschl[aä]g\w*|tipps?|ratschl\w*|was soll(te)? ich|ideen? für)\b",
    re.I,
)
_TASK = re.compile(
    r"\s*(?:please |bitte |can you |could you |kannst du )?(?:write|translate|explain|summari[sz]e|generate|create|"
    r"calculate|compute|convert|fix|correct|rewrite|rephrase|draft|compose|schreib|schreibe|übersetze?|erkläre?|fasse?|erstelle?|"
    r"berechne|rechne|korrigiere?|formuliere?|erzeuge?)\b",
    re.I,
)
_MONTH = "|".join(MONTHS)
_DAYS = (
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<month>{_MONTH})\b(?:,? +(?P<year>\d{{4}}))?", re.I
    ),
    re.compile(rf"\b(?P<month>{_MONTH}) (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? +(?P<year>\d{{4}}))?", re.I),
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})\b"),
    re.compile(r"\b(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?:(?P<year>\d{4})\b|(?!\d))"),
)
_IN_MONTH = re.compile(
    rf"\b(?:in|of|early|late|mid|since|im|seit) (?P<month>{_MONTH})\b(?:,? +(?P<year>\d{{4}}))?", re.I
)
_ENGLISH_NUMBERS = "a one two three four five six seven eight nine ten"
_GERMAN_NUMBERS = "einem ein zwei drei vier fünf sechs sieben acht neun zehn"
_NUMBERS = {
    word: max(number, 1) for words in (_ENGLISH_NUMBERS, _GERMAN_NUMBERS) for number, word in enumerate(words.split())
} | {"an": 1, "einer": 1, "couple": 2}
_UNITS = {"day": 1, "tag": 1, "week": 7, "woche": 7, "month": 30, "monat": 30, "year": 365, "jahr": 365}
_ABOUT = {1: 1, 7: 3, 30: 10, 365: 45}
_LONG_AGO = 36_500
_NUMBER = "|".join(_NUMBERS)
_AGO = re.compile(
    rf"\b(?P<count>\d+|{_NUMBER})(?: of)? (?P<unit>day|week|month|year)s? ago\b|"
    rf"\bvor (?P<zahl>\d+|{_NUMBER}) (?P<einheit>tag|woche|monat|jahr)e?n?\b",
    re.I,
)
_WEEKDAYS = {
    name: number
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
    )
    for number, name in enumerate(names.split())
}
_SEASONS = {
    "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12,
    "frühling": 3, "frühjahr": 3, "sommer": 6, "herbst": 9,
}  # fmt: skip
"""First month of each season; a season has three."""
_LONG = "week|woche|month|monat|year|jahr"
_WEEKDAY, _SEASON = "|".join(_WEEKDAYS), "|".join(_SEASONS)
_LAST = re.compile(
    r"\b(?:last|previous|letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?) "
    rf"(?P<what>{_LONG}|weekend|wochenende|{_WEEKDAY}|{_SEASON}|{_MONTH})\b",
    re.I,
)
_ON = re.compile(rf"\b(?:on|on the|at the|over the|am) (?P<what>weekend|wochenende|{_WEEKDAY})\b", re.I)
"""The most recent such day, if the question is about the past."""
_WAS = re.compile(
    r"\b(?:did|was|were|had|happened|(?-i:war)|waren|hatten?|passiert\w*|geschah|geschehen|ge\w{3,}(?:t|en))\b", re.I
)
_THIS = re.compile(
    rf"\b(?:(?:this|diese[nrsm]?) (?P<what>{_LONG}|{_SEASON})|(?:in|in the|im) (?P<season>{_SEASON}))\b", re.I
)
_RECENT = re.compile(
    r"\b(?:(?P<before>(?:the )?day before yesterday|vorgestern)"
    r"|(?P<yesterday>yesterday|gestern|last night|letzte nacht)"
    r"|(?P<today>today|heute|this (?:morning|afternoon|evening)|tonight))\b",
    re.I,
)
_IN_YEAR = re.compile(r"\b(?:in|during|since|seit|im jahre?|summer|winter|spring|autumn|fall) (?P<year>\d{4})\b", re.I)
_CHRISTMAS = re.compile(r"\b(?:christmas|weihnacht\w*|xmas)\b(?: (?P<year>\d{4})\b)?", re.I)
_OF_ANY_DAY_WORDS = """
    happen happened happening talk talked talking discuss discussed say said tell told mention mentioned remember know
    go going went on night morning afternoon evening conversation conversations chat chats anything something
    everything all new up let us
    passiert passierte geschah geschehen los gemacht getan tat machte machten gesprochen sprachen geredet redeten
    besprochen gesagt erzählt unterhalten weißt weiß noch erinnerst alles etwas neues worüber darüber gab gibt ging
    lief nacht morgen früh vormittag mittag nachmittag abend gespräch gespräche dran
"""
_OF_ANY_DAY = SMALL_WORDS.union(_OF_ANY_DAY_WORDS.split())
"""Words that say nothing about a question's subject except its day."""
_HINT = re.compile(
    r"\d|\b(?:last|previous|letzte|vorige|vergangene|this|diese|ago|vor|yesterday|gestern|today|heute|tonight|weekend|"
    rf"wochenende|christmas|weihnacht|xmas|{_MONTH}|{_WEEKDAY}|{_SEASON})"
)
"""Matches every text in lower case that contains a date expression; most questions contain none."""
_WRITTEN = (*_DAYS, _IN_MONTH)
_DATES = (*_WRITTEN, _AGO, _LAST, _ON, _THIS, _RECENT, _IN_YEAR, _CHRISTMAS)
_DAY = timedelta(days=1)

Days = tuple[date, date]
"""First and last day, inclusive."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed question."""

    text: str
    now: float
    days: tuple[Days, ...]
    spans: tuple[tuple[float, float, int], ...]
    """The same days as begin, end (Unix seconds) and number of days."""
    day_alone: bool
    """Whether the question asks for everything that happened on those days."""
    day_written: str
    """The days and months as written, to find items that mention them."""
    phrases: tuple[str, ...]
    """Quoted phrases, in lower case."""
    when: bool
    names: bool
    """Whether the question asks for a person or a place."""
    own: bool
    """Whether the question is about the person asking."""
    assistants: bool
    """Whether the question is about what the assistant said."""
    advice: bool

    @classmethod
    def parse(cls, text: str, now: float, zone: tzinfo | None = UTC) -> "Query":
        """Parse a question. Relative days count from `now` in this zone (None: the machine's)."""
        today = datetime.fromtimestamp(now, zone).date()
        days = tuple(dict.fromkeys(_days(text, today))) if _HINT.search(text.lower()) else ()
        return cls(
            text=text,
            now=now,
            days=days,
            spans=tuple(
                (_start(first, zone), _start(last + _DAY, zone), (last - first).days + 1) for first, last in days
            ),
            day_alone=bool(days) and _is_of_any_day(text),
            day_written=" ".join(match[0] for pattern in _WRITTEN for match in pattern.finditer(text)) if days else "",
            phrases=tuple(match[1].lower() for match in _QUOTED.finditer(text)),
            when=bool(_WHEN.search(text)),
            names=bool(_NAMES.search(text)),
            own=bool(_OWN.search(text)),
            assistants=bool(_ASSISTANTS.search(text)),
            advice=bool(_ADVICE.search(text)),
        )


def is_task(text: str) -> bool:
    """Return whether the text asks for work unrelated to the person asking, for which memories rarely help."""
    return bool(_TASK.match(text)) and not _OWN.search(text)


def _start(day: date, zone: tzinfo | None) -> float:
    return datetime.combine(day, time.min, zone).timestamp()


def _is_of_any_day(text: str) -> bool:
    """Return whether the text asks only for a day."""
    for pattern in _DATES:
        text = pattern.sub(" ", text)
    return _OF_ANY_DAY.issuperset(words_of(text))


def _days(text: str, today: date) -> Iterator[Days]:
    exact = [day for pattern in _DAYS for match in pattern.finditer(text) if (day := _day(match, today))]
    yield from exact
    if not exact:
        for match in _IN_MONTH.finditer(text):
            month = MONTHS[match["month"].lower()]
            year = int(match["year"]) if match["year"] else today.year - (month > today.month)
            if _is_year(year):
                yield _month(year, month)
        yield from _years(text, today)
    for match in _AGO.finditer(text):
        count = (match["count"] or match["zahl"]).lower()
        unit = _UNITS[(match["unit"] or match["einheit"]).lower()]
        number = _NUMBERS.get(count) or int(count)
        if number * unit < _LONG_AGO:
            middle, about = today - timedelta(days=number * unit), timedelta(days=_ABOUT[unit])
            yield middle - about, middle + about
    for match in (*_LAST.finditer(text), *(_ON.finditer(text) if _WAS.search(text) else ())):
        yield from _last(match["what"].lower(), today)
    for match in _THIS.finditer(text):
        yield from _this((match["what"] or match["season"]).lower(), today)
    for match in _RECENT.finditer(text):
        yield (today - timedelta(days=2 if match["before"] else 1 if match["yesterday"] else 0),) * 2


def _years(text: str, today: date) -> Iterator[Days]:
    for match in _IN_YEAR.finditer(text):
        if _is_year(year := int(match["year"])):
            yield date(year, 1, 1), date(year, 12, 31)
    for match in _CHRISTMAS.finditer(text):
        year = int(match["year"] or today.year - ((today.month, today.day) < (12, 24)))
        if _is_year(year):
            yield date(year, 12, 24), date(year, 12, 26)


def _is_year(year: int) -> bool:
    return 1900 <= year <= 2200


def _day(match: re.Match[str], today: date) -> Days | None:
    name = match["month"].lower()
    try:
        month, number = MONTHS.get(name) or int(name), int(match["day"])
        day = date(int(match["year"] or today.year - ((month, number) > (today.month, today.day))), month, number)
    except ValueError:
        return None
    return (day, day) if _is_year(day.year) else None


def _month(year: int, month: int) -> Days:
    after = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), after - timedelta(days=1)


def _last(what: str, today: date) -> Iterator[Days]:
    if (number := _WEEKDAYS.get(what)) is not None:
        yield (today - timedelta(days=(today.weekday() - number) % 7 or 7),) * 2
    elif what in MONTHS:
        yield _month(today.year - (MONTHS[what] >= today.month), MONTHS[what])
    elif what in {"week", "woche"}:
        monday = today - timedelta(days=today.weekday() + 7)
        yield monday, monday + timedelta(days=6)
    elif what in {"weekend", "wochenende"}:
        saturday = today - timedelta(days=today.weekday() + 2)
        yield saturday, saturday + timedelta(days=1)
    elif what in _SEASONS:
        first, last = _season(what, today.year)
        yield (first, last) if last < today else _season(what, today.year - 1)
    elif what in {"month", "monat"}:
        before = today.replace(day=1) - timedelta(days=1)
        yield _month(before.year, before.month)
    elif what in {"year", "jahr"}:
        yield date(today.year - 1, 1, 1), date(today.year - 1, 12, 31)


def _this(what: str, today: date) -> Iterator[Days]:
    """Yield the current period of that name, or the latest one."""
    if what in {"week", "woche"}:
        yield today - timedelta(days=today.weekday()), today
    elif what in {"month", "monat"}:
        yield today.replace(day=1), today
    elif what in {"year", "jahr"}:
        yield date(today.year, 1, 1), today
    elif what in _SEASONS:
        first, last = _season(what, today.year)
        yield (first, last) if first <= today else _season(what, today.year - 1)


def _season(name: str, year: int) -> Days:
    month = _SEASONS[name]
    return date(year, month, 1), _month(year + (month + 2) // 13, (month + 1) % 12 + 1)[1]
