"""The English of remarks beside an answer, by code."""

from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that the reader of an answer should know: another model gave it, a command changed what others follow.

    `sentence` names one of `hob.core.translation.sentences`, `values` are the words that go into it. It is no part of
    the answer.
    """

    sentence: str
    values: tuple[tuple[str, str], ...] = ()
