"""Admission for a home: its rules, and the effects of their events."""

from contextvars import ContextVar
from functools import cached_property
from typing import Protocol, runtime_checkable

from hob.app.notifications.owner_notifier import OwnerNotifier
from hob.bus.directory import ChannelDirectory
from hob.bus.settings import SELF_MADE
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.errors import StoreError
from hob.core.ids import digest
from hob.core.messages import POLLED_CHANNELS, Address, Inbound
from hob.core.ports.accept import Accept, Accepted
from hob.core.ports.guard import Admitted, Refused
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import PairingRequest, SenderAddress
from hob.guard.admission.events import AdmissionEvent, AdmissionSentence, LoopDetected, PairingAsked, Scanned, say_line
from hob.guard.admission.pairing import PairingService
from hob.guard.admission.passphrase import Passphrase
from hob.guard.admission.rules import AdmissionParts, AdmissionRules, Scans
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.audit.entries import of_admission
from hob.guard.screening.scanner.settings import ScannerAction, ScannerSettings
from hob.store.store import Store

_NOTED: ContextVar[list[AdmissionEvent] | None] = ContextVar("noted", default=None)
# The events of the message that this context accepts; concurrent accepts have their own.


@runtime_checkable
class HasOwnId(Protocol):
    """A channel that knows the id of its own account (empty if unknown), whose messages are not answered."""

    own_id: str


class AdmissionController:
    """Implements `Admission` with the admission rules. Their events are stored by `settle`."""

    def __init__(
        self,
        config: Config,
        store: Store,
        pairing_service: PairingService,
        clock: Clock,
        notifier: OwnerNotifier,
        channels: ChannelDirectory,
        language: str,
    ) -> None:
        """Raises NotConfigured for a passphrase that is too short."""
        settings = config[AdmissionSettings]
        word = settings.passphrase
        parts = AdmissionParts(
            clock,
            pairing_service.people,
            pairing_service.pairing,
            _LazyScanner(config[ScannerSettings]),
            None if word is None else Passphrase(word.reveal(), settings.passphrase_hours, clock),
            SELF_MADE,
            language,
        )
        self._told: list[AdmissionEvent] = []
        self._gate = AdmissionRules(settings, parts, self._note)
        self._store = store
        self._registrar = pairing_service
        self._telling = notifier
        self._language = language
        self._channels = channels

    def note_sent(self, to: Address) -> None:
        """Record that Hob has sent something there."""
        self._gate.note_sent(to)

    def admit(self, inbound: Inbound) -> Admitted | Refused:
        origin = inbound.origin
        channel: object = self._channels.find(origin)
        if isinstance(channel, HasOwnId) and channel.own_id:
            self._gate.add_own_address(SenderAddress.of(origin.channel, channel.own_id, origin.account))
        decision = self._gate.admit(inbound)
        if isinstance(decision, Admitted) and decision.sender.cls is SenderClass.OWNER:
            alone = not inbound.group and not inbound.hops and origin.channel not in POLLED_CHANNELS | SELF_MADE
            if alone:
                self._telling.note_owner_address(origin, inbound.sender.id)
        return decision

    def entrance(self, accept: Accept) -> Accept:
        """Wrap `accept` so that admission events are stored before the sender gets an answer."""
        return AdmittingAccept(accept, self)

    def _noted(self) -> list[AdmissionEvent]:
        own = _NOTED.get()
        return self._told if own is None else own

    def _note(self, event: AdmissionEvent) -> None:
        self._noted().append(event)

    async def settle(self) -> None:
        """Store the admission events and notify the owner of those that concern them. Raises StoreErrors."""
        await self._telling.keep()
        noted = self._noted()
        told = tuple(noted)
        noted.clear()
        if not told:
            return
        try:
            for event in told:
                if isinstance(event, PairingAsked):
                    await self._registrar.keep(event.request)
            for event in told:
                await self._report(event)
            await self._store.audit.add(*map(of_admission, told))
        except StoreError:
            for event in told:
                if isinstance(event, PairingAsked):  # the code will reach no one
                    self._registrar.pairing.settle(event.request.address, denied=False)
            raise

    async def _report(self, event: AdmissionEvent) -> None:
        match event:
            case PairingAsked(request):
                key = digest(f"{request.code} {request.address}")[:16]
                text = self._say(AdmissionSentence.ASKS, who=_who(request))
                await self._telling.notify(text, "pairing", key=key, sender=str(request.address))
            case LoopDetected(address, seconds):
                text = self._say(AdmissionSentence.LOOPED, who=address, seconds=f"{seconds:.0f}")
                await self._telling.notify(text, "loop", sender=str(address))
            case Scanned(inbound, action, findings):
                who = f"{inbound.origin.channel}:{inbound.sender.id}"
                if action == ScannerAction.ASK:
                    text = self._say(AdmissionSentence.ATTACKED, who=who, findings=", ".join(findings))
                    await self._telling.notify(text, "scanner", sender=who, trace=inbound.trace)
                else:
                    await self._telling.note(", ".join(findings), f"scanner_{action}", sender=who, trace=inbound.trace)

    def _say(self, line: AdmissionSentence, **values: object) -> str:
        return say_line(line, self._language, **values)


class AdmittingAccept:
    """Implements `Accept`: a message's admission events are stored before its sender gets an answer."""

    def __init__(self, accept: Accept, admission: AdmissionController) -> None:
        self._accept = accept
        self._admission = admission

    async def __call__(self, inbound: Inbound) -> Accepted:
        token = _NOTED.set([])
        try:
            return await self._accept(inbound)
        finally:
            try:
                await self._admission.settle()
            finally:
                _NOTED.reset(token)


class _LazyScanner:
    """Implements `Scans`, loading the rules on first use, which takes some hundredths of a second."""

    def __init__(self, settings: ScannerSettings) -> None:
        self._settings = settings

    @cached_property
    def _scanner(self) -> Scans:
        from hob.guard.screening.scanner.scanner import ContentScanner

        return ContentScanner(self._settings)

    def look(self, text: str, cls: SenderClass) -> tuple[ScannerAction, tuple[str, ...]]:
        if self._settings.action_of(cls) is ScannerAction.NONE:
            return ScannerAction.NONE, ()
        return self._scanner.look(text, cls)


def _who(request: PairingRequest) -> str:
    return f"{request.address}, “{request.name}”" if request.name else str(request.address)
