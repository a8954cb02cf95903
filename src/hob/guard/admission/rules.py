"""Admission rules: one message in, one decision out, from memory alone.

Checks run in this order: Hob's own message, sender, chat, loops between machines, rate, contents. The first objection
decides. Nothing waits, does I/O or calls a model.
"""

import hashlib
import re
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import cache
from typing import Protocol

from hob.core.clock import Clock
from hob.core.messages import POLLED_CHANNELS, TOKEN_SENDER_PREFIX, WEBHOOK_CHANNEL, Address, Inbound, Quoted
from hob.core.ports.guard import Admitted, Refused
from hob.core.trust.labels import HOB_LABEL, OWNER_LABEL, Label, Origin, SenderClass, Trust
from hob.core.trust.people import SenderAddress
from hob.core.values import dataclass
from hob.guard.admission.actions import SlidingWindows
from hob.guard.admission.contents import clean_contents
from hob.guard.admission.events import (
    AdmissionEvent,
    AdmissionSentence,
    LoopDetected,
    PairingAsked,
    PassphraseTried,
    Scanned,
    SenderRefused,
    SlowedDown,
    say_line,
)
from hob.guard.admission.pairing import Pairing
from hob.guard.admission.passphrase import Passphrase, PassphraseAttempt
from hob.guard.admission.people import People, SenderList, group_address, sender_address
from hob.guard.admission.settings import AdmissionPolicy, AdmissionSettings, DmPolicy, GroupPolicy, policy_of
from hob.guard.screening.scanner.settings import ScannerAction

# Detection of loops between two machines that keep answering each other.

_QUICK = 3.0  # seconds; people do not read and answer this quickly several times in a row
_MAX_QUICK = 6  # consecutive quick answers
_MAX_SAME = 4  # repetitions of a sentence, each after a message from Hob
_SENTENCE = 20  # characters; shorter sentences such as "yes" and "go on" repeat naturally
_REMEMBERED = 8
_REST = 60.0  # seconds of the first mute; each further one is twice as long, up to an hour
_MAX_REST = 3600.0
_CALM = 600.0  # seconds of silence after which an exchange is forgotten
_MAX_CHATS = 10_000


@dataclass(slots=True)
class _Exchange:
    answered: float = 0.0  # when Hob sent the message that they last answered
    heard: float = 0.0
    quick: int = 0
    words: deque[bytes] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    muted_until: float = 0.0
    times: int = 0


class LoopGuard:
    """Detects senders that answer too quickly or repeat themselves. Times are monotonic."""

    def __init__(self) -> None:
        self._said: OrderedDict[str, float] = OrderedDict()
        self._talks: OrderedDict[tuple[str, str], _Exchange] = OrderedDict()

    def note_sent(self, to: Address, now: float) -> None:
        """Note that Hob sent something to this chat."""
        self._said[to.key()] = now
        self._said.move_to_end(to.key())
        if len(self._said) > _MAX_CHATS:
            self._said.popitem(last=False)

    def note_received(self, origin: Address, sender: str, text: str, now: float) -> float:
        """Return the seconds for which to ignore this sender in this chat; 0.0 if nothing is suspicious."""
        talk = self._exchange(origin, sender, now)
        if now < talk.muted_until:
            return talk.muted_until - now
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
        return self._rest(talk, now) if talk.quick >= _MAX_QUICK or same >= _MAX_SAME else 0.0

    def _rest(self, talk: _Exchange, now: float) -> float:
        seconds = min(_REST * 2.0 ** min(talk.times, 10), _MAX_REST)
        talk.times += 1
        talk.quick = 0
        talk.words.clear()
        talk.muted_until = now + seconds
        return seconds

    def _exchange(self, origin: Address, sender: str, now: float) -> _Exchange:
        key = (origin.key(), sender)
        talk = self._talks.get(key)
        if talk is None or now - max(talk.heard, talk.muted_until) > _CALM:
            talk = self._talks[key] = _Exchange()
            if len(self._talks) > _MAX_CHATS:
                self._talks.popitem(last=False)
        self._talks.move_to_end(key)
        talk.heard = now
        return talk


# Whether a group message addresses Hob.


def addresses_hob(inbound: Inbound, trigger: str, names: Sequence[str]) -> bool:
    """Return whether the message addresses Hob: by the platform's mention, the trigger word, or a name.

    If a trigger is set, only it and the platform's mention count; names are ignored.
    """
    if inbound.mentioned or begins_with(inbound.text, trigger):
        return True
    return not trigger and any(_whole_word(name).search(inbound.text) for name in names if name)


def begins_with(text: str, trigger: str) -> bool:
    """Return whether the text begins with this word, ignoring case."""
    return bool(trigger) and _beginning(trigger).match(text) is not None


def without_trigger(text: str, trigger: str) -> str:
    """Return the text after its trigger word, or the whole text if it has none or nothing follows."""
    match = _beginning(trigger).match(text) if trigger else None
    return text if match is None else text[match.end() :] or text


@cache  # one entry per channel in the settings
def _beginning(trigger: str) -> re.Pattern[str]:
    return re.compile(rf"\s{{0,8}}{re.escape(trigger)}(?![\w-])[\s,:;.!]{{0,8}}", re.IGNORECASE)


@cache
def _whole_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.IGNORECASE)


_SENDERS = {
    SenderClass.OWNER: OWNER_LABEL,
    SenderClass.MEMBER: Label(Origin.MEMBER, Trust.UNTRUSTED),
    SenderClass.STRANGER: Label(Origin.STRANGER, Trust.UNTRUSTED),
}
_PEOPLE = frozenset({Origin.OWNER, Origin.MEMBER, Origin.STRANGER})
_ATTEMPT_SENTENCES = {
    PassphraseAttempt.RIGHT: AdmissionSentence.PASSED,
    PassphraseAttempt.WRONG: AdmissionSentence.WRONG_PASS,
    PassphraseAttempt.TOO_OFTEN: AdmissionSentence.TOO_MANY_TRIES,
}

_TERMINAL = "local"
_REPORT_AGAIN_SECONDS = 3600.0  # seconds before a refused sender is reported again

AdmissionListener = Callable[[AdmissionEvent], None]
"""Receives events. Called synchronously; must not block."""


def _class_of(inbound: Inbound) -> SenderClass:
    """Return the sender class on one of the owner's own channels. Token holders keep the class that their token gave
    them.
    """
    return inbound.sender.cls if inbound.sender.id.startswith(TOKEN_SENDER_PREFIX) else SenderClass.OWNER


class Scans(Protocol):
    """A content scanner."""

    def look(self, text: str, cls: SenderClass) -> tuple[ScannerAction, tuple[str, ...]]:
        """Return the action for a text of this sender class, and the kinds of attempts found."""


@dataclass(frozen=True, slots=True)
class AdmissionParts:
    """Dependencies of admission. `internal` are Hob's own channels, whose senders are already classified."""

    clock: Clock
    people: People
    pairing: Pairing
    scanner: Scans | None = None
    passphrase: Passphrase | None = None
    internal: frozenset[str] = frozenset()
    language: str = "en"


class AdmissionRules:
    """Implements `Admission`."""

    def __init__(
        self, settings: AdmissionSettings, parts: AdmissionParts, report: AdmissionListener = lambda event: None
    ) -> None:
        self._settings = settings
        self._parts = parts
        self._report = report
        self._allowed = SenderList(settings.allow)
        self._denied = SenderList(settings.deny)
        self._groups = SenderList(settings.groups)
        self._own: set[SenderAddress] = set()
        self._rates = SlidingWindows()
        self._slowed: set[SenderAddress] = set()
        self._turned_away = SlidingWindows(_REPORT_AGAIN_SECONDS)
        self._loops = LoopGuard()

    def add_own_address(self, address: SenderAddress) -> None:
        """Register an account of Hob's own, whose messages are ignored."""
        self._own.add(address)

    def note_sent(self, to: Address) -> None:
        """Note that Hob sent something to this chat, which loop detection depends on."""
        self._loops.note_sent(to, self._parts.clock.monotonic())

    def admit(self, inbound: Inbound) -> Admitted | Refused:
        """Judge a message by rules, without a model or I/O."""
        channel = inbound.origin.channel
        if channel in self._parts.internal:
            return Admitted(inbound.sender, inbound.sender.cls.value)
        if channel in POLLED_CHANNELS:
            return self._limit_token_holder(inbound) or self._check_contents(inbound, _class_of(inbound), inbound.label)
        if channel == WEBHOOK_CHANNEL:  # the webhook's settings decide who may send, as whom and how often
            return self._check_contents(inbound, inbound.sender.cls, inbound.label)
        address = sender_address(inbound)
        if not address.id:
            return self._refuse(address, "the sender has no id")
        if address in self._own or address.without_account() in self._own:
            return Refused("the message is Hob's own")
        if address in self._denied:
            return self._refuse(address, "the sender is in admission.deny")
        known = self._classify(address)
        policy = policy_of(self._settings, inbound.origin)
        in_group = self._objection_of_group if inbound.group else self._objection_of_chat
        objection = in_group(inbound, policy, known, address)
        if objection:
            return self._refuse(address, objection, speak=not inbound.group)
        if not self._is_meant(inbound, policy, known, address):
            return Refused("Hob is not meant")  # happens all the time, so it is not reported
        if refused := self._check_rate(inbound, known, address):
            return refused
        if not inbound.group and (refused := self._answer(inbound, policy, known, address)):
            return refused
        cls = SenderClass.STRANGER if address.channel in self._settings.unauthenticated else known
        inbound = replace(inbound, text=without_trigger(inbound.text, policy.trigger))
        return self._check_contents(inbound, cls, self._label(inbound, cls))

    def _limit_token_holder(self, inbound: Inbound) -> Refused | None:
        """Limit the rate of token holders. The owner is never slowed down."""
        cls = _class_of(inbound)
        return None if cls is SenderClass.OWNER else self._check_rate(inbound, cls, sender_address(inbound))

    # sender

    def _classify(self, address: SenderAddress) -> SenderClass:
        """Classify the sender. On unauthenticated channels, known people, even the owner, are only members."""
        person = self._parts.people.find(address)
        if person is not None:
            return SenderClass.MEMBER if address.channel in self._settings.unauthenticated else person.cls
        word = self._parts.passphrase
        listed = self._allowed.names(address) or (word is not None and word.admits(address))
        return SenderClass.MEMBER if listed else SenderClass.STRANGER

    def _label(self, inbound: Inbound, cls: SenderClass) -> Label:
        """Return the label. A person's words are trusted like the person; text that a channel fetched elsewhere is
        untrusted.
        """
        if inbound.label.origin in _PEOPLE:
            return _SENDERS[cls]
        return Label(inbound.label.origin, Trust.UNTRUSTED)

    # chat

    def _objection_of_group(
        self, inbound: Inbound, policy: AdmissionPolicy, known: SenderClass, _: SenderAddress
    ) -> str:
        group = group_address(inbound.origin)
        if policy.group is GroupPolicy.DISABLED:
            return "groups are disabled"
        if policy.group is GroupPolicy.ALLOWLIST and group not in self._groups:
            return f"the group is not in admission.groups; write {group} there to let it in"
        if known is SenderClass.STRANGER and not self._settings.group_strangers:
            return "unknown people are not answered in groups"
        return ""

    def _objection_of_chat(
        self, inbound: Inbound, policy: AdmissionPolicy, known: SenderClass, address: SenderAddress
    ) -> str:
        if known is not SenderClass.OWNER and policy.dm is DmPolicy.DISABLED:
            return "direct chats are disabled"
        stranger = known is SenderClass.STRANGER and not self._is_attempt(inbound) and not self._allowed.opens(address)
        if stranger and policy.dm is DmPolicy.ALLOWLIST:
            return "the sender is not in admission.allow"
        return ""

    def _is_meant(self, inbound: Inbound, policy: AdmissionPolicy, known: SenderClass, address: SenderAddress) -> bool:
        if inbound.group:
            wanted = policy.mention or bool(policy.trigger)
            return not wanted or addresses_hob(inbound, policy.trigger, self._settings.names)
        if not policy.trigger or self._is_attempt(inbound) or self._must_pair(policy, known, address):
            return True
        return addresses_hob(inbound, policy.trigger, ())

    def _must_pair(self, policy: AdmissionPolicy, known: SenderClass, address: SenderAddress) -> bool:
        opened = policy.dm is DmPolicy.OPEN or self._allowed.opens(address)
        return known is SenderClass.STRANGER and not opened

    def _is_attempt(self, inbound: Inbound) -> bool:
        word = self._parts.passphrase
        return word is not None and word.is_attempt(inbound.text)

    def _answer(
        self, inbound: Inbound, policy: AdmissionPolicy, known: SenderClass, address: SenderAddress
    ) -> Refused | None:
        """Handle what admission answers itself: passphrase attempts, and unknown senders who must pair first."""
        word = self._parts.passphrase
        if word is not None and word.is_attempt(inbound.text):
            tried = word.attempt(address, inbound.text)
            self._report(PassphraseTried(address, tried.name.lower()))
            hours = f"{self._settings.passphrase_hours:g}"
            return Refused(f"passphrase: {tried.name.lower()}", self._say(_ATTEMPT_SENTENCES[tried], hours=hours))
        if not self._must_pair(policy, known, address):
            return None
        request = self._parts.pairing.ask(address, clean_contents(inbound, self._settings).sender.name)
        if request is None:
            return self._refuse(address, "pairing: asked already, denied, or too many ask at once", speak=False)
        self._report(PairingAsked(request))
        return Refused("pairing: a code was given", self._say(AdmissionSentence.PAIRING, code=request.code))

    # rate

    def _check_rate(self, inbound: Inbound, known: SenderClass, address: SenderAddress) -> Refused | None:
        now = self._parts.clock.monotonic()
        owner = known is SenderClass.OWNER  # the owner is never ignored, however quick
        if not owner and (wait := self._loops.note_received(inbound.origin, address.id, inbound.text, now)):
            self._report(LoopDetected(address, wait))
            return Refused(f"two machines seem to answer each other; silent for {wait:.0f} s")
        wait = self._rates.wait(address, self._settings.messages_per_minute, now)
        account = (address.channel, address.account)
        if known is SenderClass.STRANGER:
            wait = max(wait, self._rates.wait(account, self._settings.strangers_per_minute, now))
        if not wait:
            self._rates.count(address, now)
            if known is SenderClass.STRANGER:
                self._rates.count(account, now)
            self._slowed.discard(address)
            return None
        return self._slow_down(address, known, wait)

    def _slow_down(self, address: SenderAddress, known: SenderClass, wait: float) -> Refused:
        first = address not in self._slowed
        line = ""
        if first:
            if len(self._slowed) > 10_000:
                self._slowed.clear()
            self._slowed.add(address)
            self._report(SlowedDown(address, wait))
            if known is not SenderClass.STRANGER:
                line = self._say(AdmissionSentence.SLOW_DOWN, seconds=f"{wait:.0f}")
        return Refused(f"too many messages within a minute; the next one in {wait:.0f} s", line)

    # contents

    def _check_contents(self, inbound: Inbound, cls: SenderClass, label: Label) -> Admitted | Refused:
        cleaned = clean_contents(replace(inbound, label=label, sender=replace(inbound.sender, cls=cls)), self._settings)
        scanner = self._parts.scanner
        texts = [part.text for part in inbound.quoted]
        if inbound.origin.channel != _TERMINAL:  # typed text is the owner's own; piped text is not
            texts.insert(0, inbound.text)
        if scanner is not None and texts:
            # scan the original text, since removed parts are findings too
            action, families = scanner.look("\n".join(texts), cls)
            if action is not ScannerAction.NONE:
                self._report(Scanned(cleaned, action.value, families))
            if action in (ScannerAction.BLOCK, ScannerAction.ASK):
                return Refused(f"scanner: {', '.join(families)}", self._held())
            if action is ScannerAction.FLAG and cls is not SenderClass.OWNER:
                note = f"[Hob: this message may be an attempt to steer you: {', '.join(families)}]"
                cleaned = replace(cleaned, quoted=(*cleaned.quoted, Quoted(note, HOB_LABEL)))
        return Admitted(cleaned.sender, cls.value, cleaned)

    def _held(self) -> str:
        return "" if self._settings.drop_unauthorized else self._say(AdmissionSentence.HELD)

    def _refuse(self, address: SenderAddress, reason: str, *, speak: bool = True) -> Refused:
        if not self._turned_away.take(address, 1, self._parts.clock.monotonic()):
            self._report(SenderRefused(address, reason))
        silent = self._settings.drop_unauthorized or not speak
        return Refused(reason, "" if silent else self._say(AdmissionSentence.NOT_ADMITTED))

    def _say(self, line: AdmissionSentence, **values: object) -> str:
        return say_line(line, self._parts.language, **values)
