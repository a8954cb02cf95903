"""Text analysis for the index: English and German stems, and the kind of a text."""

import re
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache, reduce
from itertools import filterfalse
from operator import or_
from typing import Final

import apsw

_MONTHS = (
    "january february march april may june july august september october november december",
    "januar februar märz april mai juni juli august september oktober november dezember",
)
MONTHS = {name: number for names in _MONTHS for number, name in enumerate(names.split(), 1)}
"""Month numbers by name."""

_WORD = re.compile(r"[^\W_\u3040-\u30ff\u3400-\u9fff]+|[\u3040-\u30ff\u3400-\u9fff]")
_ASCII_WORDS = "".join(letter.lower() if letter.isalnum() else " " for letter in map(chr, range(128)))
"""What `str.translate` makes of each ASCII character: four times as fast as `_WORD`."""
_POSSESSIVE = re.compile(r"['\u2019]s\b")
_MAY = re.compile(
    r"\bMay\b(?! I\b)|"
    r"(?:(?<=\bin )|(?<=\bof )|(?<=\bsince )|(?<=\blast )|(?<=\bnext )|(?<=\bthis )|(?<=\d )|(?<=\dth ))may\b|"
    r"\bmay(?= \d)"
)
"""The month May, the only one whose name is also a stop word."""
_ENGLISH_WORDS = """
    a an the and or but if then of to in on at for with about from by as is are was were be been being do does did done
    have has had having i you he she it we they me him her them my your his its our their this that these those what
    which who whom when where why how will would can could should may might must not no so than too very just there here
    into out up down over under again s t re ve ll d m am
"""
_GERMAN_WORDS = """
    aber als am an auch auf aus bei bin bis bist bitte da dann darf darfst das dass dein deine deinem deinen deiner dem
    den denn der des dich die dies diese diesem diesen dieser dieses dir doch du durch durfte durften durftest dürfen
    dürft dürfte dürften ein eine einem einen einer eines er es euch eure für gewesen hab habe haben habt hast hat hatte
    hatten hattest hätte hätten hättest ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja kann kannst kein
    keine keinen konnte konnten konntest können könnt könnte könnten könntest man mein meine meinem meinen meiner mich
    mir mit muss musst musste mussten musstest muß möchte möchten möchtest müssen müsst müsste müssten müsstest nach
    nicht noch nur ob oder schon sehr seid sein seine seinem seinen seiner sich sie sind so soll sollen sollst sollt
    sollte sollten solltest um und uns unser unsere unserem unseren unter vom von vor wann war waren warst warum was
    wegen welche welchem welchen welcher welches wem wen wenn wer werde werden weshalb wessen wie wieso will willst wir
    wird wirst wo woher wohin wollen wollt wollte wollten wolltest worden wurde wurden wäre wären würde würden würdest
    zu zum zur über
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_GERMAN = frozenset(_GERMAN_WORDS.split())
_GERMAN_STOP = _GERMAN | {"s"}
SMALL_WORDS: Final = _ENGLISH | _GERMAN
"""Words that say nothing about a text's subject."""

_SAME_IN_ENGLISH = """
    go went gone goes going|buy bought|see saw seen|take took taken|make made|give gave given|get got gotten|come came|
    find found|think thought|tell told|know knew known|feel felt|leave left|meet met|begin began begun|run ran|
    write wrote written|speak spoke spoken|eat ate eaten|drink drank drunk|drive drove driven|ride rode ridden|
    fly flew flown|grow grew grown|teach taught|catch caught|bring brought|fight fought|sell sold|build built|send sent|
    spend spent|lend lent|lose lost|win won|wear wore worn|swim swam swum|sing sang sung|sleep slept|keep kept|
    hear heard|hold held|stand stood|understand understood|fall fell fallen|choose chose chosen|break broke broken|
    wake woke woken|forget forgot forgotten|steal stole stolen|draw drew drawn|throw threw thrown|pay paid|say said|
    sit sat|hang hung|hide hid hidden|bite bit bitten|become became|person people|man men|woman women|wife wives|
    foot feet|tooth teeth|mouse mice|shake shook shaken|lead led|feed fed|deal dealt|dream dreamt|
    learn learnt|shine shone|sink sank sunk|blow blew blown|freeze froze frozen|tear tore torn|rise rose risen|
    seek sought|lie lay lain|sweep swept|mom mum mother mommy|dad father daddy|grandma grandmother|
    grandpa grandfather|kid child children|photo picture pic|bike bicycle|tv television|phone cellphone|movie film|
    vacation holiday|doctor dr
"""
_SAME_IN_GERMAN = """
    gehen ging gingen gegangen geht|kommen kam kamen|sehen sah sahen gesehen sieht|nehmen nahm genommen nimmt|
    geben gab gaben gegeben gibt|finden fand gefunden|denken dachte gedacht|bringen brachte gebracht|
    essen aß gegessen isst|
    trinken trank getrunken|fahren fuhr fuhren fährt|fliegen flog geflogen|schreiben schrieb geschrieben|
    sprechen sprach gesprochen spricht|treffen traf getroffen trifft|lesen las liest|laufen lief läuft|
    schlafen schlief schläft|helfen half geholfen hilft|werfen warf geworfen|ziehen zog gezogen umgezogen umziehen|
    verlieren verlor verloren|gewinnen gewann gewonnen|beginnen begann begonnen|singen sang gesungen|
    schwimmen schwamm geschwommen|
    tragen trug getragen trägt|bleiben blieb geblieben|heißen hieß|rufen rief|
    wissen wusste gewusst weiß|kennen kannte gekannt|nennen nannte genannt|brechen brach gebrochen|
    steigen stieg gestiegen|
    mutter mama mutti|vater papa vati|großmutter oma|großvater opa|foto bild|fahrrad rad|fernseher tv|handy telefon|
    urlaub ferien|arzt ärztin doktor|mögen mag mochte gemocht|verstehen verstand verstanden|stehen stand gestanden|
    bieten bot geboten|binden band gebunden|bitten bat gebeten|brennen brannte gebrannt|empfehlen empfahl empfohlen|
    entscheiden entschied entschieden|fallen fiel gefallen fällt|fangen fing gefangen|gießen goss gegossen|
    genießen genoss genossen|greifen griff gegriffen|halten hielt gehalten hält|hängen hing gehangen|heben hob gehoben|
    laden lud geladen|lassen ließ gelassen lässt|leiden litt gelitten|leihen lieh geliehen|liegen lag gelegen|
    lügen log gelogen|messen maß gemessen|raten riet rät|reißen riss gerissen|zerreißen zerriss zerrissen|
    reiten ritt geritten|rennen rannte gerannt|riechen roch|schieben schob geschoben|schießen schoss geschossen|
    schließen schloss geschlossen|schneiden schnitt geschnitten|schreien schrie geschrien|sitzen saß gesessen|
    springen sprang gesprungen|stechen stach gestochen|stehlen stahl gestohlen bestohlen stiehlt|
    sterben starb gestorben stirbt|streiten stritt gestritten|treten trat getreten tritt|treiben trieb getrieben|
    tun tat getan|vergessen vergaß vergisst|wachsen wuchs gewachsen|waschen wusch gewaschen|wiegen wog gewogen
"""

_TIME = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|ago|recently|since|just|years? old|(last|next|this) \w+|"
    r"(week|month|year|day)s?|"
    r"weekend|(mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}|\d+(st|nd|rd|th)|"
    r"gestern|heute|morgen|vorgestern|kürzlich|neulich|seit|vor \w+|(letzte|nächste|diese)[nrsm]? \w+|woche(n|nende)?|"
    r"monate?n?|jahre?n?|tage?n?|(mon|diens|donners|frei|sonn)tag|mittwoch|samstag|" + "|".join(MONTHS) + r")\b"
)
_OWN_PAST = re.compile(
    r"\b(i|we)('ve| have| had| was| were| did| just| recently| also| finally| actually)?"
    r" ?(just |recently |already |also |finally |actually )?"
    r"(\w+ed|went|got|bought|saw|took|made|came|found|met|ran|wrote|read|ate|drove|flew|started|had|was|been|spent|won|"
    r"lost|gave|told|left)\b|"
    r"\b(ich|wir) (habe?n?|hatten?|bin|sind|war|waren|\w+t(e|en)|ging|kam|fuhr|traf|fand|bekam)\b|"
    r"\b(habe?n?|bin|hatten?|war) (ich|wir)\b",
)
_LIKING = re.compile(
    r"\b(i|i'm|i've|we) (really |also |absolutely |always |particularly |mostly |usually )?"
    r"(love|like|prefer|enjoy|hate|dislike|want|need|am|'m|use|own|have|am into|interested)\b|"
    r"\bmy (favou?rite|own|new|current)\b|\b(into|interested in|fan of|looking for|planning|trying)\b|"
    r"\b(ich|wir) (mag|mögen|liebe|hasse|bevorzuge|will|möchte|brauche|nutze|suche|plane)\b|\bgerne?\b|"
    r"\b(mein|meine|unser|unsere) (lieblings\w*|neue[rsn]?|eigene[rsn]?)\b|\blieblings",
)
_NAME = re.compile(r"[A-Z](?<=\b.)(?<!^.)(?<![.!?] .)[a-z]")
_SHORT = 120
_DAY = 86_400.0


class Kind:
    """Surface features of a text; a bit mask."""

    QUESTION: Final = 1
    """Ends with a question."""
    BARE_QUESTION: Final = 2
    """Is a short question and little else."""
    TIME: Final = 4
    """Says when."""
    OWN_PAST: Final = 8
    """Says what its writer did."""
    LIKING: Final = 16
    """Says what its writer likes, has or wants."""
    NAME: Final = 32
    """Names a person or place."""


_KINDS = ((Kind.TIME, _TIME), (Kind.OWN_PAST, _OWN_PAST), (Kind.LIKING, _LIKING))
"""Patterns of texts in lower case: ignoring case would cost three times as much."""
_SELVES = frozenset(["i", "we", "ich", "wir"])
_TELLING = _SELVES | {
    *("my", "mein", "meine", "unser", "unsere", "gern", "gerne"),
    *("into", "interested", "fan", "looking", "planning", "trying"),
}


class _Possible(dict[str, int]):
    """The features that a text with a given word may have. Only their patterns are tried."""

    def __missing__(self, word: str) -> int:
        kind = Kind.TIME if _TIME.match(f"{word.removeprefix('5')} x") or word.isdigit() else 0
        kind |= Kind.OWN_PAST if word in _SELVES or _OWN_PAST.match(word) else 0
        kind |= Kind.LIKING if word in _TELLING or word.startswith("lieblings") else 0
        if len(self) < _MAX_KNOWN:
            self[word] = kind
        return kind


_MAX_KNOWN = 50_000
_POSSIBLE = _Possible()


def kind_of(text: str, words: Iterable[str] | None = None) -> int:
    """Return the features of a text, given its words."""
    possible = reduce(or_, {*map(_POSSIBLE.__getitem__, words_of(text) if words is None else words)}, 0)
    kind = Kind.NAME if _NAME.search(text) else 0
    if possible:
        lower = text.lower()
        kind += sum(number for number, pattern in _KINDS if number & possible and pattern.search(lower))
    if text.rstrip().endswith("?"):
        kind |= Kind.QUESTION | (Kind.BARE_QUESTION if len(text) < _SHORT else 0)
    return kind


def words_of(text: str) -> list[str]:
    """Split into words in lower case, without possessives."""
    if "may" in text or "May" in text:
        text = _MAY.sub(" 5may ", text)
    if "'" in text or "\u2019" in text:
        text = _POSSESSIVE.sub(" ", text)
    return text.translate(_ASCII_WORDS).split() if text.isascii() else _WORD.findall(text.lower())


def is_german(words: Collection[str]) -> bool:
    """Return whether more of the small words are German than English."""
    if _GERMAN.isdisjoint(words):
        return False
    return sum(map(_GERMAN.__contains__, words)) > sum(map(_ENGLISH.__contains__, words))


def words_around(at: float, speaker: str) -> tuple[str, ...]:
    """Return the words that are indexed with a text: the day on which it was said, and its speaker."""
    return _words_around(at // _DAY, speaker)


@lru_cache(1_024)
def _words_around(day: float, speaker: str) -> tuple[str, ...]:
    date = datetime.fromtimestamp(day * _DAY, UTC)
    return (*words_of(f"{date.day} {_MONTHS[0].split()[date.month - 1].capitalize()} {date.year} {speaker}"),)


END: Final = "~"
"""Marks a stem that matches words with this ending."""
_COMPOUND, _HEAD, _TAIL = 8, 3, 4
_BEGINNING, _FEW_WORDS = 5, 3


class _Stems(dict[str, str]):
    """Cache of the first words' stems."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        super().__init__()
        self._stem = stem

    def __missing__(self, word: str) -> str:
        stem = self._stem(word)
        if len(self) < _MAX_KNOWN:
            self[word] = stem
        return stem


class Analyzer:
    """Stems words. Thread-safe."""

    def __init__(self) -> None:
        self._english, self._german = _Stems(self._stem_english), _Stems(stem_german)
        self._lock = threading.Lock()
        self._porter = apsw.Connection(":memory:").fts5_tokenizer("porter", ["unicode61", "remove_diacritics", "0"])
        _learn_same(self._english, _SAME_IN_ENGLISH, self._stem_english)
        _learn_same(self._german, _SAME_IN_GERMAN, stem_german)
        for name, number in MONTHS.items():
            self._english[name] = self._german[name] = f"{number}m"
        self._english["5may"] = self._german["5may"] = "5m"
        del self._english["may"]  # "may" as a word is a stop word

    def learn(self, texts: Iterable[Sequence[str]]) -> None:
        """Stem the new words of these texts at once, which costs a tenth as much as one by one."""
        new = [word for word in set[str]().union(*texts) - self._english.keys() if word.isascii()]
        if new and len(self._english) < _MAX_KNOWN:
            self._english.update(zip(new, self._tokenize_english(" ".join(new)), strict=True))

    def stems(self, words: Sequence[str]) -> list[str]:
        """Return the stems of a text's words in its language, without stop words.

        A long German word is also indexed by its endings (`~kurs` for `abendkurs`), since it may be a compound.
        """
        if not is_german(words):
            return list(map(self._english.__getitem__, filterfalse(_ENGLISH.__contains__, words)))
        found = []
        for word in words:
            if word not in _GERMAN_STOP:
                found.append(self._german[word])
                if len(word) >= _COMPOUND:
                    ends = (word[start:] for start in range(_HEAD, len(word) - _TAIL + 1))
                    found += dict.fromkeys(f"{END}{self._german[end]}" for end in ends)
        return found

    def concepts(self, query: str) -> list[tuple[str, ...]]:
        """Return the significant words of a query, each with its stems in both languages and as an ending of German
        words.

        An irregular German word includes its plain stem, under which older releases indexed it.
        """
        words = words_of(query)
        german = is_german(words)
        stop = _GERMAN_STOP if german else _ENGLISH
        kept = [word for word in words if word not in stop] or words
        return list(dict.fromkeys(map(self._stems_of, kept)))

    def beginnings(self, query: str) -> dict[tuple[str, ...], str]:
        """Return beginnings of German compounds that contain a word of the query, by the word's stems as in `concepts`.

        Empty if the query cannot be German, which a query of few words always may be.
        """
        words = words_of(query)
        if not is_german(words) and (len(words) > _FEW_WORDS or not _ENGLISH.isdisjoint(words)):
            return {}
        some = [word for word in words if len(word) >= _BEGINNING and word not in _GERMAN_STOP]
        known = ((self._stems_of(word), stem_german(word, _BEGINNING)) for word in some)
        return {stems: beginning for stems, beginning in known if len(beginning) >= _BEGINNING}

    def _stems_of(self, word: str) -> tuple[str, ...]:
        english, german = self._english[word], self._german[word]
        return tuple(dict.fromkeys((english, german, f"{END}{german}", stem_german(word))))

    def _stem_english(self, word: str) -> str:
        return "".join(self._tokenize_english(word)) if word.isascii() else word

    def _tokenize_english(self, text: str) -> list[str]:
        with self._lock:
            found = self._porter(
                text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
            )
        return [str(stem) for stem in found]


def _learn_same(known: dict[str, str], same: str, stem: Callable[[str], str]) -> None:
    for group in same.split("|"):
        words = group.split()
        known.update(dict.fromkeys(words, stem(words[0])))


_FOLDED = str.maketrans({"ü": "u", "ö": "o", "ä": "a", "ß": "ss"})
_ENDINGS = ("em", "er", "nd")


def stem_german(word: str, shortest: int = 3) -> str:
    """Return the stem of a German word by the rules of CISTEM (Weissweiler and Fraser, 2017), ignoring case.

    Stems are not shortened below `shortest` letters.
    """
    word = word.translate(_FOLDED)
    if word.startswith("ge") and len(word) >= 6:
        word = word[2:]
    for_two = max(5, shortest + 1)
    while len(word) > shortest:
        if len(word) > for_two and word.endswith(_ENDINGS):
            word = word[:-2]
        elif word[-1] in "tesn":
            word = word[:-1]
        else:
            break
    return word
