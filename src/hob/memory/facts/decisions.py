"""Deterministic rules for proposed facts, independent of the model that proposed them.

A fact must be grounded in the owner's own words; no model answer, page or mail can add one. Newer statements win. The
owner's corrections yield only to what the owner says later. A single-valued fact is closed by the next value, not
deleted. Unconfirmed facts do not count.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from hob.core.memory import Fact, FactChange, FactState, Goal, GoalMove, GoalNote, GoalState
from hob.core.trust.labels import Label, Origin, Trust
from hob.memory.facts.extraction import FactDecision, Proposal, own_words
from hob.memory.facts.statements import Stated, is_own, stated
from hob.store.memory.analysis import words_of

OWNER = "owner"
_SELF = frozenset({"owner", "user", "the owner", "the user", "i", "me", "myself", "ich", "mich", "mir"})
_SURE = 0.5
_DAY = 86_400.0
_CENTURY = 36_525 * _DAY
_LONGEST, _LONGEST_NAME, _LONGEST_QUOTE = 200, 60, 120
_PREDICATE = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+){0,5}")
_SAME: Mapping[str, str] = {
    "resides_in": "lives_in", "moved_to": "lives_in", "living_in": "lives_in", "residence": "lives_in",
    "home_city": "lives_in", "city": "lives_in", "employer": "works_at", "works_for": "works_at",
    "employed_by": "works_at", "works_in": "works_at", "is_called": "name", "is_named": "name", "has_name": "name",
    "named": "name", "date_of_birth": "birthday", "born_on": "birthday", "birth_date": "birthday",
    "married_to": "partner", "spouse": "partner", "wife": "partner", "husband": "partner", "job": "job_title",
    "occupation": "job_title", "profession": "job_title", "phone": "phone_number", "mobile": "phone_number",
    "email": "email_address", "address": "home_address",
}  # fmt: skip
_SINGLE = frozenset({
    "lives_in", "works_at", "name", "birthday", "age", "partner", "job_title", "phone_number", "email_address",
    "home_address", "time_zone", "native_language", "height", "weight", "relationship_status", "blood_type", "bank",
    "marital_status", "diet", "employment_status", "first_name", "last_name", "middle_name", "full_name", "maiden_name",
    "family_name", "nickname",
})  # fmt: skip
_SINGLE_VALUED = ("_colour", "_date", "_birthday")
"""Endings of predicates with one value at a time."""


def predicate_of(text: str) -> str:
    """Normalise the name of a predicate; empty if the text is not one."""
    name = re.sub(r"[^a-z0-9]+", "_", text.casefold()).strip("_")
    name = _SAME.get(name, name).replace("favorite", "favourite").replace("color", "colour")
    return name if _PREDICATE.fullmatch(name) and len(name) <= _LONGEST_NAME else ""


def is_single(predicate: str) -> bool:
    """Return whether the predicate has one value at a time."""
    return predicate in _SINGLE or predicate.startswith("favourite_") or predicate.endswith(_SINGLE_VALUED)


def decide(proposal: Proposal, known: Sequence[Fact]) -> FactChange | None:
    """Return the changes for a proposal; None if there are none."""
    words = own_words(proposal.said)
    standing = [fact for fact in known if fact.valid_to is None or fact.valid_to > proposal.said.at]
    sure = [fact for fact in standing if fact.state is not FactState.ASKED]
    if not proposal.object:
        return _find_ended(proposal, words, sure)
    fact = _ground(proposal, words, known)
    if fact is None:
        return None
    told = stated(words, fact.object, fact.predicate, owner=fact.subject == OWNER)
    asks = proposal.decision is FactDecision.ASK or proposal.confidence < _SURE
    if told is Stated.NOT or (told is Stated.SUPPOSED and not asks):
        return None
    if same := _find(fact, sure):
        return FactChange(confirmed=((same.id, fact.evidence),))
    asked = [each.id for each in standing if each.state is FactState.ASKED and each.key == fact.key]
    if not asks and (known_as := _find_restated(proposal, fact, sure)):
        if _names_same(fact.object, known_as.object):
            return FactChange(confirmed=((known_as.id, fact.evidence),))
        asks = True
    if asks:
        return None if asked else FactChange(added=(replace(fact, state=FactState.ASKED),))
    rivals = _rivals(proposal, fact, sure)
    if any(rival.at > fact.at for rival in rivals):
        return None  # said before the known fact, so it adds nothing
    if proposal.decision is FactDecision.UPDATE and len(rivals) == 1 and _holds(fact.object, rivals[0].object):
        (old,) = rivals
        since = old.valid_from if fact.valid_from is None else fact.valid_from
        more = replace(fact, valid_from=since, evidence=(*old.evidence, *fact.evidence))
        return FactChange((old.id, *asked), (more,))
    if not rivals:
        return FactChange(tuple(asked), (fact,))
    return FactChange((*(rival.id for rival in rivals), *asked), tuple(supersede(fact, rivals)))


def decide_goal(proposal: Proposal, goals: Sequence[Goal]) -> GoalMove | None:
    """Return a goal in the owner's own words, or the change to a goal that they name; None if neither applies."""
    words, said = own_words(proposal.said), proposal.said
    if proposal.confidence < _SURE or _only_asks(words):
        return None
    if proposal.decision is FactDecision.GOAL:
        text, due = proposal.object[:_LONGEST], proposal.until
        if not text or not {*words_of(text)} <= {*words_of(words)} or not is_own(words, text):
            return None
        label = Label(Origin.MODEL, Trust.TRUSTED)
        ahead = _believed(due, said.at) if due is not None and due > said.at - _DAY else None
        goal = Goal(text=text, label=label, due=ahead, session=said.session, turn=said.turn)
    else:
        known = next((goal for goal in goals if goal.id == proposal.target), None)
        if known is None or {word for word in words_of(known.text) if len(word) > 3}.isdisjoint(words_of(words)):
            return None
        goal = replace(known, state=GoalState(proposal.decision))
    return GoalMove(goal, GoalNote(_quoted(words), said.at, said.id))


def supersede(fact: Fact, rivals: Iterable[Fact]) -> list[Fact]:
    """Return the fact, and the facts it supersedes, which end when it begins."""
    since = fact.at if fact.valid_from is None else fact.valid_from
    ended = [replace(rival, valid_to=max(since, rival.valid_from or since), quote=rival.quote) for rival in rivals]
    return [replace(fact, valid_from=since), *ended]


def settled(fact: Fact, object_: str, at: float, *, confirmed: bool) -> FactChange:
    """Apply the owner's verdict to a fact: confirm it, correct it or (without an object) withdraw it."""
    if confirmed:
        return FactChange((fact.id,), (replace(fact, state=FactState.SAID, confidence=1.0),))
    if not object_:
        return FactChange((fact.id,))
    right = replace(
        fact, object=object_, at=at, quote="", state=FactState.CORRECTED, confidence=1.0, evidence=(), valid_to=None
    )
    return FactChange((fact.id,), (right,))


def is_valid_at(fact: Fact, at: float) -> bool:
    """Return whether the fact holds at that time, as far as its dates tell."""
    begun = fact.valid_from is None or fact.valid_from <= at
    return begun and (fact.valid_to is None or at < fact.valid_to)


def _find_ended(proposal: Proposal, words: str, sure: Sequence[Fact]) -> FactChange | None:
    """Return a fact that has just ended, which the owner's words have to name."""
    old = next((fact for fact in sure if fact.id == proposal.target), None)
    if proposal.decision is not FactDecision.SUPERSEDE or old is None or old.at > proposal.said.at:
        return None
    named = [word for word in words_of(old.object) if word in words_of(words)]
    if not named or proposal.confidence < _SURE:
        return None
    if stated(words, " ".join(named), old.predicate, owner=old.subject == OWNER, ended=True) is not Stated.STATED:
        return None
    until = proposal.until or proposal.since or proposal.said.at
    evidence = (*old.evidence, proposal.said.id)
    return FactChange((old.id,), (replace(old, valid_to=max(until, old.valid_from or until), evidence=evidence),))


def _ground(proposal: Proposal, words: str, known: Sequence[Fact]) -> Fact | None:
    """Return the proposal as a fact; None if the owner's words do not state it."""
    predicate, object_ = predicate_of(proposal.predicate), proposal.object[:_LONGEST]
    subject = OWNER if proposal.subject.casefold() in _SELF else proposal.subject[:_LONGEST_NAME]
    said = {*words_of(words)}
    named = subject == OWNER or subject.casefold() in {fact.subject.casefold() for fact in known}
    wanted = {*words_of(object_)}
    if not predicate or not subject or not wanted or not wanted <= said or not (named or {*words_of(subject)} <= said):
        return None
    if _only_asks(words):
        return None
    return Fact(
        subject=subject, predicate=predicate, object=object_, at=proposal.said.at, quote=_quoted(words),
        valid_from=_believed(proposal.since, proposal.said.at), valid_to=_past(proposal.until, proposal.said.at),
        confidence=min(1.0, max(0.0, proposal.confidence)), evidence=(proposal.said.id,),
    )  # fmt: skip


def _only_asks(words: str) -> bool:
    return words.endswith("?") and "." not in words


def _quoted(words: str) -> str:
    quote = " ".join(words.split())
    return quote if len(quote) <= _LONGEST_QUOTE else f"{quote[: _LONGEST_QUOTE - 1]}\u2026"


def _holds(text: str, other: str) -> bool:
    return {*words_of(other)} <= {*words_of(text)}


def _believed(day: float | None, said: float) -> float | None:
    """Return the day, unless it is beyond any life."""
    return None if day is None or day > said + _CENTURY else day


def _past(until: float | None, at: float) -> float | None:
    return until if until is not None and until <= at else None


def _find(fact: Fact, facts: Sequence[Fact]) -> Fact | None:
    return next((each for each in facts if each.key == fact.key and fact.valid_to is None), None)


def _find_restated(proposal: Proposal, fact: Fact, sure: Sequence[Fact]) -> Fact | None:
    """Return the fact that the model takes the new one to restate, if both are about the same."""
    if proposal.decision is not FactDecision.MERGE or fact.valid_to is not None:
        return None
    return next((each for each in sure if each.id == proposal.target and each.key[:2] == fact.key[:2]), None)


def _names_same(text: str, other: str) -> bool:
    """Return whether one text contains all words of the other, or consists of its initials."""
    few, many = sorted((words_of(text), words_of(other)), key=len)
    return {*few} <= {*many} or (len(few) == 1 < len(many) and few[0] == "".join(word[0] for word in many))


def _rivals(proposal: Proposal, fact: Fact, sure: Sequence[Fact]) -> list[Fact]:
    """Return the known facts that cannot hold together with the new one."""
    if fact.valid_to is not None:
        return []
    alike = [each for each in sure if (each.subject.casefold(), each.predicate) == fact.key[:2]]
    if is_single(fact.predicate):
        return alike
    if proposal.decision in (FactDecision.SUPERSEDE, FactDecision.UPDATE):
        return [each for each in sure if each.id == proposal.target and each.subject.casefold() == fact.key[0]]
    return []
