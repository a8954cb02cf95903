"""Repeated requests of OpenAI's clients: which earlier message one means, and how long that is remembered.

OpenAI's clients repeat a request by themselves and say so in a header, but name the first one only if they were given
an `Idempotency-Key`. Without one a request is known by what it holds and by whom it comes from: the first gets a key
made of that, of the minute, and of a number that counts those which are the same. So the keys of what may be meant can
be worked out again, even after a crash, and two requests that were both meant are never one.
"""

import hashlib
import itertools
import json
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import asdict, is_dataclass, replace
from typing import Any

from hob.core.clock import Clock
from hob.core.ids import InboundId
from hob.core.messages import Inbound
from hob.core.ports.accept import Accept, Accepted
from hob.core.values import dataclass
from hob.gateway.http.fields import WrongField
from hob.store.messages.inbox import Result
from hob.store.store import Store

_CHANNEL, _ACCOUNT = "api", ""
_MAX_REMEMBERED = 10_000
_MAX_MINUTES = 60
_USUAL_TIMEOUT = 600.0
"""Seconds that OpenAI's clients wait for an answer unless they are told otherwise."""
_PAUSE = 60.0
"""Seconds: the longest between two attempts, for they wait as long as `Retry-After` says."""
_FIRST_REST, _LONGEST_REST = 0.5, 8.0
"""Seconds that OpenAI's clients rest before they come again: doubled each time, and never more."""
_ON_THE_WAY = 3.0
"""Seconds for a request to arrive on a busy machine."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a request tells of itself: how often it was made before, how long each time was waited, its own key."""

    number: int = 0
    timeout: float = _USUAL_TIMEOUT
    key: str | None = None


def attempt_of(headers: Mapping[str, str]) -> Attempt:
    """By the headers that OpenAI's clients send. Raises WrongField."""
    key = headers.get("idempotency-key")
    if key is not None and not (1 <= len(key) <= 255 and key.isprintable()):
        raise WrongField("Idempotency-Key", "Idempotency-Key must have 1 to 255 printable characters")
    number = headers.get("x-stainless-retry-count", "")
    timeout = headers.get("x-stainless-read-timeout", "").partition(".")[0]
    return Attempt(
        int(number[:4]) if number.isascii() and number.isdecimal() else 0,
        float(timeout[:6]) if timeout.isascii() and timeout.isdecimal() else _USUAL_TIMEOUT,
        key,
    )


def seal_of(asked: Any, *about: str | None) -> str:
    """What two requests share only if they ask the same, all of it, and the same in `about`."""
    body = asdict(asked) if is_dataclass(asked) and not isinstance(asked, type) else asked
    text = json.dumps([body, *about], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def seen_after(number: int) -> float:
    """Seconds after which an answer that was handed over has been seen, since no one came for it again.

    `number` is how often a client has come again.
    """
    return min(_FIRST_REST * 2.0 ** (number - 1), _LONGEST_REST) + _ON_THE_WAY


class RequestJoiner:
    """Remembers, for this run, which attempt got which message and who waits for it."""

    def __init__(self) -> None:
        self._attempts: OrderedDict[InboundId, int] = OrderedDict()
        self._waiting: Counter[InboundId] = Counter()

    def come(self, id: InboundId) -> None:
        """Somebody waits for the answer to this message."""
        self._waiting[id] += 1

    def leave(self, id: InboundId) -> None:
        """They do not any more."""
        self._waiting[id] -= 1
        if self._waiting[id] <= 0:
            del self._waiting[id]

    def is_awaited(self, id: InboundId) -> bool:
        """Whether anybody waits for it."""
        return id in self._waiting

    async def accept(
        self,
        accept: Accept,
        store: Store,
        clock: Clock,
        inbound: Inbound,
        attempt: Attempt,
        *,
        seal: str,
        who: str,
        place: str,
    ) -> Accepted:
        """Accept the message, or find the one that this attempt repeats. Raises as `Accept` does.

        `seal` stands for what was asked, `who` for the person, `place` for where it came from.
        """
        if attempt.key is not None:
            return await accept(replace(inbound, key=f"v1:{who}:{attempt.key}"))
        now = clock.now().timestamp()
        stem = f"v1:{seal_of([seal, who, place])}"
        if attempt.number:
            found = await self._find(store, stem, now, attempt)
            if found is not None:
                key, id = found
                self._note(id, attempt.number)
                return await accept(replace(inbound, key=key))
        for key in _keys(stem, int(now // 60)):
            if await store.inbox.find_key(_CHANNEL, _ACCOUNT, key) is None:
                accepted = await accept(replace(inbound, key=key))
                if not accepted.duplicate:  # else the same was asked at the same moment, and had this key first
                    self._note(accepted.id, attempt.number)
                    return accepted
        raise AssertionError("numbers do not end")

    async def _find(self, store: Store, stem: str, now: float, attempt: Attempt) -> tuple[str, InboundId] | None:
        """The key and the id of what was asked before, as far as this is not the attempt of another one.

        Rather one that no one waits for, then one whose asker may be gone unnoticed, then one whose answer was lost on
        the way to them; among equals the latest. Whose answer was lost is here again at once, after the client's rest:
        who comes later means something new, of which no earlier attempt got here.
        """
        minutes = min(_MAX_MINUTES, int(attempt.number * (attempt.timeout + _PAUSE) / 60) + 1)
        best: tuple[int, str, InboundId] | None = None
        this = int(now // 60)
        for minute in range(this + 1, this - minutes - 1, -1):  # the clock may have been set back
            for key, result in reversed([each async for each in _messages(store, stem, minute)]):
                over = result.ended is not None and result.picked_up
                if self._attempts.get(result.id, 0) >= attempt.number:
                    continue
                if over and now - (result.ended or 0) >= seen_after(attempt.number):
                    continue
                rank = 2 if over else 1 if self.is_awaited(result.id) else 0
                if best is None or rank < best[0]:
                    best = rank, key, result.id
        return None if best is None else best[1:]

    def _note(self, id: InboundId, number: int) -> None:
        self._attempts[id] = number
        self._attempts.move_to_end(id)
        while len(self._attempts) > _MAX_REMEMBERED:
            self._attempts.popitem(last=False)


async def _messages(store: Store, stem: str, minute: int) -> AsyncIterator[tuple[str, Result]]:
    """Every message of this minute that asked the same, with its key."""
    for key in _keys(stem, minute):
        accepted = await store.inbox.find_key(_CHANNEL, _ACCOUNT, key)
        result = None if accepted is None else await store.inbox.find_result(accepted.id)
        if result is None:
            return
        yield key, result


def _keys(stem: str, minute: int) -> Iterator[str]:
    return (f"{stem}:{minute}:{number}" for number in itertools.count())
