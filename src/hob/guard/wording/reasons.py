"""Reasons: written in English where they arise, since models read them too, and said to people in their language.

A sentence's name is the English sentence itself, its placeholders unfilled; the German ones stand in `german`.
"""

from collections.abc import Mapping

from hob.guard.wording.german import GERMAN


class GuardReason(str):
    """A reason in English that remembers its sentence and the words in it."""

    __slots__ = ("sentence", "values")

    sentence: str
    values: Mapping[str, str]

    def __new__(cls, sentence: str, values: Mapping[str, str]) -> "GuardReason":
        made = super().__new__(cls, sentence.format_map(values))
        made.sentence = sentence
        made.values = values
        return made


def because(sentence: str, **values: str) -> GuardReason:
    """The sentence with these words in its placeholders; they may be reasons themselves."""
    return GuardReason(sentence, values)


def say(language: str, sentence: str, **values: str) -> str:
    """The sentence in this language, with these words in it."""
    return in_language(because(sentence, **values), language)


def in_language(reason: str, language: str, german: Mapping[str, str] = GERMAN) -> str:
    """The reason in this language; as it is, in English, where Hob does not know it in another."""
    if language != "de":
        return str(reason)
    if not isinstance(reason, GuardReason):
        return german.get(reason, reason)
    known = german.get(reason.sentence)
    if known is None:
        return str(reason)
    return known.format_map({name: in_language(value, language, german) for name, value in reason.values.items()})
