"""Compression of sessions into observations, and of many observations into fewer.

Messages are marked as observed in the transaction that stores their observations, so an unreadable answer changes
nothing. Only the owner's words and Hob's answers to them are read, not pages or other people's messages.
"""

from collections.abc import Sequence
from dataclasses import replace

from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.translation.language import translatable
from hob.core.trust.labels import Label, Origin, Trust
from hob.memory.background_model import OBSERVER, REFLECTOR, BackgroundModel
from hob.memory.observations.lines import (
    DAYS,
    HIGH,
    IMPORTANCE,
    OBSERVE,
    REFLECT,
    Observation,
    is_supported,
    numbered,
    read_observations,
)
from hob.memory.observations.work import ConversationWork, is_owners

MIN_CHARACTERS = 20
"""Minimum characters of a message worth observing."""
_FULL = 24_000
"""Characters of messages from which they are observed together, however few messages there are."""
_MAX_CHARACTERS = 32_000
_MAX_ANSWER, _MAX_REFLECTED = 2_000, 3_000
_SHRINK = 0.6
_UNREADABLE = translatable("the model's answer holds no observations")
_DAY = 86_400.0
SOURCE = f"{Layer.OBSERVATION}:observer"


class Observer(ConversationWork):
    """Observes sessions as they grow."""

    async def step(self, model: BackgroundModel) -> float | None:
        """Observe sessions that are long enough. Always returns None. Raises WorkPaused, StoreErrors."""
        if not self._settings.observe:
            return None
        looked = await self._work.place(OBSERVER)
        upto, sessions = await self._work.sessions_since(looked)

        async def observe(scope: Scope, session: str) -> None:
            while await self._observe(model, scope, session):
                continue
            await self._reflect(model, scope)

        await self._each(sessions, observe)
        if upto > looked:
            await self._work.move(OBSERVER, upto)
        return None

    async def _observe(self, model: BackgroundModel, scope: Scope, session: str) -> bool:
        """Observe the session's next messages; return whether there were enough."""
        about = f"{scope.person}\n{scope.agent}\n{session}"
        said = await self._messages(scope, session, await self._work.place(OBSERVER, about), MIN_CHARACTERS)
        size = sum(len(item.text) for item in said)
        if not said or (len(said) < self._settings.observe_after and size < _FULL):
            return False
        if not self._may_ask(about, said[-1].seq):
            return False
        some = _fitting(said)
        answer = await self._budget.ask(model, OBSERVER, OBSERVE, numbered(some, 1_500), _MAX_ANSWER)
        found = list(read_observations(answer, some[-1].at))
        if not found:
            raise self._note_useless(about, said[-1].seq, _UNREADABLE)
        items = _items(found, scope, some)
        await self._work.keep(scope, items, (OBSERVER, about, some[-1].seq), sources=some)
        self._made()
        return True

    async def _reflect(self, model: BackgroundModel, scope: Scope) -> None:
        """Condense many observations into fewer, keeping the most important as they are."""
        known = await self._work.observations(scope)
        lesser = sorted((item for item in known if item.kind != HIGH), key=lambda item: (item.at, item.seq))
        if len(known) <= self._settings.max_observations or not lesser:
            return
        about, newest = f"{scope.person}\n{scope.agent}", max(item.seq for item in known)
        if not self._may_ask(about, newest):
            return
        maximum = max(1, int(len(known) * _SHRINK) - (len(known) - len(lesser)))
        asked = REFLECT.format(maximum=maximum)
        answer = await self._budget.ask(model, REFLECTOR, asked, numbered(lesser, 300), _MAX_REFLECTED)
        found = list(read_observations(answer, lesser[-1].at))
        items = _items(found, scope, lesser)
        if not items or len(found) >= len(lesser):
            raise self._note_useless(about, newest, _UNREADABLE)
        await self._work.keep(scope, items, None, replaced=lesser)
        self._made()


def _fitting(items: Sequence[MemoryItem]) -> Sequence[MemoryItem]:
    left = _MAX_CHARACTERS
    for place, item in enumerate(items):
        left -= min(len(item.text), 1_500)
        if left < 0 and place:
            return items[:place]
    return items


def _items(found: Sequence[Observation], scope: Scope, among: Sequence[MemoryItem]) -> list[MemoryItem]:
    """Turn observations into items, without those that lack the owner's words or go beyond their sources."""
    cited = [[among[number - 1] for number in seen.cited if 1 <= number <= len(among)] or among for seen in found]
    return [
        _item(seen, scope, sources, among[-1].at)
        for seen, sources in zip(found, cited, strict=True)
        if any(is_owners(item) or item.layer is Layer.OBSERVATION for item in sources)
        and is_supported(seen.text, sources)
    ]


def _item(seen: Observation, scope: Scope, sources: Sequence[MemoryItem], at: float) -> MemoryItem:
    days = DAYS[seen.priority]
    item = MemoryItem(
        scope=scope, layer=Layer.OBSERVATION, source=SOURCE, text=seen.text, label=Label(Origin.MODEL, Trust.TRUSTED),
        at=seen.at, role="assistant", kind=seen.priority, importance=IMPORTANCE[seen.priority],
        evidence=tuple(each.id for each in sources),
    )  # fmt: skip
    return replace(item, expires_at=at + days * _DAY) if days else item
