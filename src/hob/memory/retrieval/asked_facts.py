"""Facts that a question asks for directly, in any wording. English and German."""

import re
from collections.abc import Sequence

from hob.memory.retrieval.lexical import Accept
from hob.memory.retrieval.query import Query
from hob.memory.retrieval.ranking import Candidate
from hob.store.memory.analysis import words_of
from hob.store.memory.search import ScopedIndex

_I, _MY = r"(?:i|we|ich|wir)\b", r"\b(?:my|our|mein\w*|unser\w*)\s+(?:\w+\s+)?"
_WHERE = r"\b(?:where|wo|which (?:city|town|country|place)|welche\w* (?:stadt|land|ort))\b"
_ASKS = tuple(
    (frozenset(predicates.split()), re.compile(words, re.I))
    for predicates, words in (
        (
            "lives_in home_address",
            rf"{_WHERE}(?=.*\b{_I}).*\b(?:live|lived|living|resid\w+|wohn\w*|gewohnt|lebe|lebte|gelebt)\b|"
            rf"{_MY}(?:address|hometown|wohnort|adresse|anschrift)",
        ),
        (
            "works_at",
            rf"(?:{_WHERE}|\b(?:who|whom|wen|which company|welche\w* firma)\b)(?=.*\b{_I})"
            rf".*\b(?:work|worked|working|arbeit\w*|gearbeitet|angestellt)\b|{_MY}(?:employer|arbeitgeber\w*|firma)\b",
        ),
        (
            "job_title",
            rf"{_MY}(?:job|occupation|profession|beruf)\b|\bdo {_I} do for a living|\bbin ich von beruf\b|"
            r"\b(?:arbeite|mache) ich beruflich\b",
        ),
        (
            "name first_name last_name full_name nickname",
            rf"{_MY}(?:name|nickname|\w+name)\b|\bheiße ich\b|\bich heiße\b",
        ),
        ("birthday", rf"{_MY}(?:birthday|geburtstag)\b|\bwas i born\b|\bich geboren\b"),
        ("age birthday", rf"\bold am i\b|{_MY}(?:age|alter)\b|\balt bin ich\b"),
        ("partner", rf"{_MY}(?:wife|husband|partner\w*|spouse|frau|mann)\b|\bi married to\b|\bich verheiratet\b"),
        ("phone_number", rf"{_MY}(?:phone|mobile|telefon\w*|handy\w*|rufnummer)\b"),
        ("email_address", rf"{_MY}e-?mail\w*"),
        ("diet", rf"\b(?:{_I} eat|esse ich|ernähre ich|am i (?:a )?veg\w+|bin ich veg\w+)\b"),
        ("blood_type", rf"{_MY}(?:blood|blutgruppe)\b"),
        ("native_language", rf"{_MY}(?:native|mother|muttersprache)\b"),
        ("height", r"\b(?:tall am i|groß bin ich)\b"),
        ("weight", r"\b(?:do i weigh|wiege ich)\b"),
        ("bank", rf"{_MY}bank\b|\bwelche\w* bank bin ich\b"),
        ("favourite_colour", rf"{_MY}lieblingsfarbe\b"),
        ("favourite_food favourite_dish", rf"{_MY}lieblings(?:essen|gericht|speise)\b"),
        ("favourite_book", rf"{_MY}lieblingsbuch\b"),
        ("favourite_film favourite_movie", rf"{_MY}lieblingsfilm\b"),
        ("allergic_to allergy has_allergy", rf"\b{_I}.*\ballerg\w+|\ballerg\w+.*\b{_I}|{_MY}allerg\w+"),
    )
)
_BEFORE = re.compile(
    r"\b(?:before|used to|former\w*|previous\w*|prior|bevor|vorher|zuvor|davor|früher\w*|vor|ehemal\w*)\b", re.I
)
_OWNER = "owner"
_LONGEST = 300
"""Maximum characters of a question. Longer texts tell more than they ask."""
_MAX_FACTS = 5
_STEP = 0.01


def rank_asked_facts(
    index: ScopedIndex, query: Query, ranked: Sequence[Candidate], accept: Accept, now: float, *, past: bool
) -> list[Candidate]:
    """Put the facts that the question asks for first: those that hold now and, with `past`, those that held before.

    "Before Berlin" finds the fact that preceded the one about Berlin, whatever its predicate.
    """
    question = query.text
    if len(question) > _LONGEST:
        return [*ranked]
    wanted = {name for names, words in _ASKS if words.search(question) for name in names} if query.own else set[str]()
    before = _BEFORE.search(question) is not None
    if not (wanted or before):
        return [*ranked]
    facts = index.facts()
    words = {*words_of(question)} if before else set()
    after = {(fact.subject, fact.predicate) for fact in facts if words and {*words_of(fact.object)} <= words}
    asked = [
        fact
        for fact in facts
        if (fact.subject.lower() == _OWNER and fact.predicate in wanted and (past or not fact.is_over(now)))
        or ((fact.subject, fact.predicate) in after and fact.is_over(now))
    ]
    asked.sort(key=lambda fact: (past != fact.is_over(now), -fact.at))
    return _first(index, [fact.seq for fact in asked[:_MAX_FACTS]], ranked, accept)


def _first(index: ScopedIndex, seqs: Sequence[int], ranked: Sequence[Candidate], accept: Accept) -> list[Candidate]:
    found = {each.entry.seq: each for each in ranked}
    entries = {seq: entry for seq, entry in index.entries(seqs).items() if accept(entry)}
    best = ranked[0].score if ranked else 0.0
    first = []
    for place, seq in enumerate(seq for seq in seqs if seq in entries):
        known = found.pop(seq, None) or Candidate(entries[seq], {}, 0.0)
        first.append(known.with_part("asked", best - known.score + _STEP * (_MAX_FACTS - place)))
    return [*first, *(each for each in ranked if each.entry.seq in found)]
