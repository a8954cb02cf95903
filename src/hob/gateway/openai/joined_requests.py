"""Detection of retried requests: which earlier message a request repeats, and for how long.

OpenAI's clients retry by themselves and say so in a header, but name the first request only if they were given an
`Idempotency-Key`. Without one, a request is identified by its content and its sender: its key consists of these, the
minute, and a counter of identical requests. So possible keys can be recomputed even after a crash, and two intended
requests are never merged.
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
from hob.store.messages.results import Result
from hob.store.store import Store

_CHANNEL, _ACCOUNT = "api", ""
_MAX_REMEMBERED = 10_000
_MAX_MINUTES = 60
_USUAL_TIMEOUT = 600.0
"""Seconds that OpenAI's clients wait for an answer by default."""
_PAUSE = 60.0
"""Maximum seconds between two attempts: clients obey `Retry-After`."""
_FIRST_REST, _LONGEST_REST = 0.5, 8.0
"""Seconds that OpenAI's clients wait before a retry: doubled each time up to the second value."""
_ON_THE_WAY = 3.0
"""Seconds that a request may take to arrive on a busy machine."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a request says about its attempt: the number of earlier ones, the client's timeout, its own key."""

    number: int = 0
    timeout: float = _USUAL_TIMEOUT
    key: str | None = None


def attempt_of(headers: Mapping[str, str]) -> Attempt:
    """Read the attempt from the headers of OpenAI's clients. Raises WrongField."""
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
    """Hash a request and `about`; equal only for identical requests."""
    body = asdict(asked) if is_dataclass(asked) and not isinstance(asked, type) else asked
    text = json.dumps([body, *about], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def seen_after(number: int) -> float:
    """Return the seconds after which a delivered answer has surely been seen, since no retry came.

    `number` is the number of retries.
    """
    return min(_FIRST_REST * 2.0 ** (number - 1), _LONGEST_REST) + _ON_THE_WAY


class RequestJoiner:
    """Remembers, within this process, which attempt got which message and who awaits it."""

    def __init__(self) -> None:
        self._attempts: OrderedDict[InboundId, int] = OrderedDict()
        self._waiting: Counter[InboundId] = Counter()

    def come(self, id: InboundId) -> None:
        """Note that a client awaits the answer to this message."""
        self._waiting[id] += 1

    def leave(self, id: InboundId) -> None:
        """Note that a client stopped waiting."""
        self._waiting[id] -= 1
        if self._waiting[id] <= 0:
            del self._waiting[id]

    def is_awaited(self, id: InboundId) -> bool:
        """Return whether any client awaits it."""
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
        """Accept the message, or the one that this attempt repeats. Raises as `Accept` does.

        `seal` identifies the content, `who` the person, `place` the origin.
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
                if not accepted.duplicate:  # otherwise an identical request took this key at the same moment
                    self._note(accepted.id, attempt.number)
                    return accepted
        raise AssertionError("numbers do not end")

    async def _find(self, store: Store, stem: str, now: float, attempt: Attempt) -> tuple[str, InboundId] | None:
        """Find the key and id of the request that this attempt repeats, unless it belongs to another attempt.

        Prefers a request that no client awaits, then one whose client may have vanished, then one whose answer was lost
        on the way; the latest among equals. A client whose answer was lost returns right after its pause, so a later
        request is a new one.
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
    """Yield every message of this minute with the same content, and its key."""
    for key in _keys(stem, minute):
        accepted = await store.inbox.find_key(_CHANNEL, _ACCOUNT, key)
        result = None if accepted is None else await store.results.find(accepted.id)
        if result is None:
            return
        yield key, result


def _keys(stem: str, minute: int) -> Iterator[str]:
    return (f"{stem}:{minute}:{number}" for number in itertools.count())
