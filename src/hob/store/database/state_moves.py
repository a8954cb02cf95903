"""Moves between states, refused unless `hob.core.states` lists them."""

from collections.abc import Mapping
from enum import StrEnum
from typing import TypeVar

from hob.core.errors import HobError
from hob.core.states import may_move

S = TypeVar("S", bound=StrEnum)


class IllegalMove(HobError):
    """The state cannot change this way; nothing was written."""


def check_move(moves: Mapping[S, frozenset[S]], old: S, new: S, what: str) -> None:
    """Raise IllegalMove unless the table lists the move; staying in a state is not a move."""
    if old == new or not may_move(moves, old, new):
        raise IllegalMove(f"{what} is {old} and cannot become {new}.")


def sources(moves: Mapping[S, frozenset[S]], new: S) -> tuple[S, ...]:
    """Return the states from which the table allows a move to `new`."""
    return tuple(old for old, allowed in moves.items() if new in allowed)
