"""Use of each skill, counted from the timeline."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import apsw

from hob.core.events.timeline import EventKind, TimelineEvent
from hob.store.database.part import DatabaseAccess, StorePart
from hob.store.database.rows import find_row
from hob.store.memory.work import PLACE, move_on
from hob.store.timeline import Timeline

EXPERTISE = "expertise"
KINDS = (EventKind.TOOL, EventKind.SUBAGENT)
LAST = 50
_AT_ONCE = 2_000
_ALL = "SELECT skill, successes, failures, seconds, last_used, recent FROM expertise ORDER BY skill"
_ONE = "SELECT successes, failures, seconds, last_used, recent FROM expertise WHERE skill = ?"
_PUT = (
    "INSERT OR REPLACE INTO expertise (skill, successes, failures, seconds, last_used, recent)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)


class Use(NamedTuple):
    """One use of a skill."""

    skill: str
    worked: bool


class SkillRecord(NamedTuple):
    """A skill's counts so far; `recent` holds its last outcomes, newest last."""

    skill: str
    successes: int
    failures: int
    seconds: float
    last_used: float
    recent: tuple[bool, ...]


class StoredExpertise(StorePart):
    """Counts the events since the last count."""

    def __init__(self, access: DatabaseAccess, timeline: Timeline) -> None:
        super().__init__(access)
        self._timeline = timeline

    async def count(self, use_of: Callable[[TimelineEvent], Use | None]) -> Sequence[SkillRecord]:
        """Return the records of all skills up to now. `use_of` maps an event to a use. Raises StoreErrors."""
        row = await self._row(PLACE, (EXPERTISE, ""))
        place = 0 if row is None else int(row[0])
        while (found := await self._timeline.follow(place, _AT_ONCE, kinds=KINDS)).upto > place:
            uses = [(use, event) for _, event in found.events if (use := use_of(event)) is not None]
            if found.events:
                await self._writer.write(partial(_add, uses=uses, old=place, new=found.upto))
            place = found.upto
        rows = await self._rows(_ALL)
        return [SkillRecord._make((*known, tuple(each == "1" for each in recent))) for *known, recent in rows]


def _add(connection: apsw.Connection, *, uses: Sequence[tuple[Use, TimelineEvent]], old: int, new: int) -> None:
    row = find_row(connection, PLACE, (EXPERTISE, ""))
    if row is not None and row[0] > old:
        return  # another process has counted them meanwhile
    for skill in dict.fromkeys(use.skill for use, _ in uses):
        some = [each for each in uses if each[0].skill == skill]
        successes, failures, seconds, last, recent = find_row(connection, _ONE, (skill,)) or (0, 0, 0.0, 0.0, "")
        worked = sum(use.worked for use, _ in some)
        seconds += sum(event.seconds or 0.0 for _, event in some)
        recent += "".join("1" if use.worked else "0" for use, _ in some)
        last = max(last, *(event.at for _, event in some))
        row = (skill, successes + worked, failures + len(some) - worked, seconds, last, recent[-LAST:])
        connection.execute(_PUT, row)
    move_on(connection, EXPERTISE, "", new)
