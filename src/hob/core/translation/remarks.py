"""Remarks that accompany an answer."""

from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Remark:
    """A note for the reader of an answer: another model gave it, a command changed trusted instructions.

    `sentence` is a code of `hob.core.translation.sentences`, `values` fill its placeholders. It is not part of the
    answer.
    """

    sentence: str
    values: tuple[tuple[str, str], ...] = ()
