"""Two machines that answer each other for ever: noticed, and left in silence."""

import hashlib
from collections import OrderedDict, deque
from dataclasses import dataclass, field

from hob.core.messages import Address

_QUICK = 3.0  # seconds in which no person reads and answers, time after time
_MOST_QUICK = 6  # such answers in a row
_MOST_SAME = 4  # times the same sentence comes back, each after something of ours
_SENTENCE = 20  # characters; people say "yes" and "go on" often
_REMEMBERED = 8
_REST = 60.0  # of the first silence; each further one is twice as long, up to an hour
_MOST_REST = 3600.0
_CALM = 600.0  # after so long without a message all is forgotten
_MOST_CHATS = 10_000


@dataclass(slots=True)
class _Talk:
    answered: float = 0.0  # what we said then is what they last answered
    heard: float = 0.0
    quick: int = 0
    words: deque[bytes] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    rests: float = 0.0
    times: int = 0


class Loops:
    """Watches who answers how fast, and with what. Times are monotonic."""

    def __init__(self) -> None:
        self._said: OrderedDict[str, float] = OrderedDict()
        self._talks: OrderedDict[tuple[str, str], _Talk] = OrderedDict()

    def said(self, to: Address, now: float) -> None:
        """Hob has sent something to this chat."""
        self._said[to.key()] = now
        self._said.move_to_end(to.key())
        if len(self._said) > _MOST_CHATS:
            self._said.popitem(last=False)

    def heard(self, origin: Address, sender: str, text: str, now: float) -> float:
        """How many seconds this sender is to be left alone in this chat; 0.0 where nothing seems odd."""
        talk = self._talk(origin, sender, now)
        if now < talk.rests:
            return talk.rests - now
        said = self._said.get(origin.key(), 0.0)
        if said <= talk.answered:
            return 0.0
        talk.answered = said
        talk.quick = talk.quick + 1 if now - said <= _QUICK else 0
        words = " ".join(text.split())
        same = 0
        if len(words) >= _SENTENCE:
            hashed = hashlib.blake2b(words.encode("utf-8", "replace"), digest_size=8).digest()
            talk.words.append(hashed)
            same = talk.words.count(hashed)
        return self._rest(talk, now) if talk.quick >= _MOST_QUICK or same >= _MOST_SAME else 0.0

    def _rest(self, talk: _Talk, now: float) -> float:
        seconds = min(_REST * 2.0 ** min(talk.times, 10), _MOST_REST)
        talk.times += 1
        talk.quick = 0
        talk.words.clear()
        talk.rests = now + seconds
        return seconds

    def _talk(self, origin: Address, sender: str, now: float) -> _Talk:
        key = (origin.key(), sender)
        talk = self._talks.get(key)
        if talk is None or now - max(talk.heard, talk.rests) > _CALM:
            talk = self._talks[key] = _Talk()
            if len(self._talks) > _MOST_CHATS:
                self._talks.popitem(last=False)
        self._talks.move_to_end(key)
        talk.heard = now
        return talk
