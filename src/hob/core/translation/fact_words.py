"""Facts as sentences: "The owner lives in Paris" for a model, "you live in Paris" for the owner, in their language."""

from collections.abc import Mapping

from hob.core.memory import OWNER
from hob.core.translation.language import Translatable, verbatim

OWNER_FACTS: Mapping[str, str] = {
    "lives_in": "you live in {object}",
    "works_at": "you work at {object}",
    "name": "your name is {object}",
    "birthday": "your birthday is {object}",
    "age": "your age is {object}",
    "partner": "your partner is {object}",
    "job_title": "your job is {object}",
    "phone_number": "your phone number is {object}",
    "email_address": "your e-mail address is {object}",
    "home_address": "your address is {object}",
    "native_language": "your native language is {object}",
    "bank": "your bank is {object}",
    "diet": "your diet is {object}",
    "favourite_colour": "your favourite colour is {object}",
    "favourite_food": "your favourite food is {object}",
    "favourite_book": "your favourite book is {object}",
    "likes": "you like {object}",
    "loves": "you love {object}",
    "prefers": "you prefer {object}",
    "dislikes": "you dislike {object}",
    "has": "you have {object}",
    "owns": "you own {object}",
    "plays": "you play {object}",
    "speaks": "you speak {object}",
    "allergic_to": "you are allergic to {object}",
}
"""Facts about the owner, by predicate."""
OTHERS_FACTS: Mapping[str, str] = {
    "lives_in": "{subject} lives in {object}",
    "works_at": "{subject} works at {object}",
    "name": "{subject}'s name is {object}",
    "birthday": "{subject}'s birthday is {object}",
    "likes": "{subject} likes {object}",
    "has": "{subject} has {object}",
}
"""Facts about other people, by predicate."""
_VERB_WORDS = """
    attends avoids believes bikes brings buys calls collects commutes cooks dances dislikes does drinks drives eats
    enjoys expects feels follows gets goes grows has hates helps is keeps knows learns likes listens lives loves makes
    meets misses moves needs owes owns plans plays practices practises prefers reads rents rides runs sells sings sleeps
    speaks studies supports swims takes teaches trains travels uses visits volunteers wants was watches wears works
    writes
"""
_PAST_WORDS = "ate bought did got grew had left lost made met sold took went wrote"
_BEING_WORDS = "allergic based born engaged interested intolerant married related"
_VERBS, _PAST, _BEING = frozenset(_VERB_WORDS.split()), frozenset(_PAST_WORDS.split()), frozenset(_BEING_WORDS.split())
_SECOND_PERSON = {"is": "are", "was": "were", "has": "have", "does": "do", "goes": "go"}


ARTICLE = "The "
"""Article before the word for the owner."""


def render_fact(subject: str, predicate: str, object_: str) -> str:
    """Return the fact in English for a model, with the owner in the third person."""
    whose = f"{ARTICLE}{OWNER}" if subject.lower() == OWNER else subject
    words = predicate.split("_")
    told = _phrase(words, whose, f"{whose}'s", words[0])
    return f"{told} {object_}"


def render_fact_for_owner(subject: str, predicate: str, object_: str) -> Translatable:
    """Return the fact for the owner; English if there is no sentence for the predicate."""
    own = subject.lower() == OWNER
    message = (OWNER_FACTS if own else OTHERS_FACTS).get(predicate)
    if message is not None:
        return Translatable(message, {"subject": verbatim(subject), "object": verbatim(object_)})
    if not own:
        return verbatim(render_fact(subject, predicate, object_))
    words = predicate.split("_")
    told = _phrase(words, "you", "your", _second_person(words[0]))
    return verbatim(f"{told} {object_}")


def _phrase(words: list[str], whose: str, of: str, verb: str) -> str:
    """Return the sentence for a predicate that is a verb, a state or a possession."""
    first, phrase = words[0], " ".join(words)
    if first in _VERBS or first in _PAST or (first.endswith("ed") and len(words) > 1 and first not in _BEING):
        return " ".join((whose, verb, *words[1:]))
    if first in _BEING:
        be = "was" if first == "born" else "is"
        return f"{whose} {_SECOND_PERSON[be] if whose == 'you' else be} {phrase}"
    several = words[-1].endswith("s") and not words[-1].endswith(("ss", "us"))
    return f"{of} {phrase} {'are' if several else 'is'}"


def _second_person(verb: str) -> str:
    if verb not in _VERBS:
        return verb
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return _SECOND_PERSON.get(verb) or verb.removesuffix(
        "es" if verb.endswith(("ches", "shes", "sses", "xes")) else "s"
    )
