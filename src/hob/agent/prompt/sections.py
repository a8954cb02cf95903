"""Prompt sections written by features."""

import asyncio
from collections import OrderedDict
from collections.abc import Collection, Sequence

from hob.agent.ports import PromptSection
from hob.agent.prompt.system import Audience
from hob.agent.prompt.tokens import estimate_tokens, shorten
from hob.core.ids import SessionKey
from hob.core.models import TranscriptEntry
from hob.core.trust.labels import HOB_LABEL
from hob.core.turns import TranscriptView, Turn
from hob.core.values import dataclass

_MAX_SESSIONS = 256


@dataclass(frozen=True, slots=True)
class WrittenSections:
    """Written sections: trusted parts by name, and entries of untrusted text, each after a heading of Hob's."""

    parts: tuple[tuple[str, str], ...] = ()
    untrusted: tuple[TranscriptEntry, ...] = ()

    def without(self, names: Collection[str]) -> "WrittenSections":
        """Return a copy without these parts."""
        return WrittenSections(tuple(part for part in self.parts if part[0] not in names), self.untrusted)


_NOTHING = WrittenSections()


class FeatureSections:
    """Collects sections from features, and keeps each session's cached ones."""

    def __init__(self, sections: Sequence[PromptSection]) -> None:
        self._cached = tuple(each for each in sections if each.cached)
        self._others = tuple(each for each in sections if not each.cached)
        self._kept: OrderedDict[tuple[SessionKey, Audience], tuple[tuple[int, ...], WrittenSections]] = OrderedDict()

    async def stable(self, turn: Turn, view: TranscriptView, audience: Audience, room: int) -> WrittenSections:
        """Return the cached sections in at most `room` tokens; they stay the same until the session is compacted."""
        if not self._cached:
            return _NOTHING
        key = (turn.session, audience)
        as_of = (view.summary.upto if view.summary else 0, room, *(each.epoch for each in self._cached))
        known = self._kept.get(key)
        if known is None or known[0] != as_of:
            written = await _write(self._cached, turn, 0.0, room // len(self._cached))
            known = self._kept[key] = (as_of, written)
            self._kept.move_to_end(key)
            while len(self._kept) > _MAX_SESSIONS:
                self._kept.popitem(last=False)
        return known[1]

    async def now(self, turn: Turn, at: float) -> WrittenSections:
        """Return the sections written when the turn begins or wakes."""
        return await _write(self._others, turn, at) if self._others else _NOTHING


async def _write(sections: Sequence[PromptSection], turn: Turn, at: float, room: int | None = None) -> WrittenSections:
    parts: list[tuple[str, str]] = []
    untrusted: list[TranscriptEntry] = []
    written = await asyncio.gather(*(section.write(turn) for section in sections))
    for section, found in zip(sections, written, strict=True):
        if found is None or not found[0]:
            continue
        text, label = found
        if room is not None:
            text = limit_tokens(text, room)
        if label.trusted:
            parts.append((section.name, text))
        else:
            source = f"{turn.id} {section.name}"
            untrusted.append(TranscriptEntry(0, "user", f"{section.name}:", HOB_LABEL, source, at))
            untrusted.append(TranscriptEntry(0, "user", text, label, source, at))
    return WrittenSections(tuple(parts), tuple(untrusted))


def limit_tokens(text: str, tokens: int) -> str:
    """Shorten the text to at most this many tokens."""
    while estimate_tokens(text) > tokens:
        text = shorten(text, min(len(text) * tokens // estimate_tokens(text), len(text) - 1))
    return text
