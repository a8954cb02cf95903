"""Pairing: a stranger asks to be admitted with a short-lived code, which the owner approves."""

import re
import secrets
import unicodedata
from collections.abc import Iterable

from hob.core.clock import Clock
from hob.core.errors import InvalidRequest, NotFound
from hob.core.messages import POLLED_CHANNELS
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import PairingRequest, Person, SenderAddress
from hob.guard.admission.contents import one_line
from hob.guard.admission.people import People
from hob.guard.audit.entries import of_action
from hob.store.audit.audit import AuditEntry
from hob.store.people import StoredPeople

# Every change is stored first and then applied to the running admission rules.

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_MAX_NAME = 100


class PairingService:
    """People and pairing requests, stored and in memory. Only the owner's own commands may change them."""

    def __init__(self, store: StoredPeople, clock: Clock) -> None:
        self._store = store
        self.people = People()
        self.pairing = Pairing(clock)

    async def load(self) -> None:
        """Load what is stored. Must be called before the first message is judged."""
        self.people.renew(await self._store.persons())
        self.pairing.renew(await self._store.requests())

    def pending(self) -> tuple[PairingRequest, ...]:
        """Return the pending requests, oldest first."""
        return self.pairing.pending()

    async def keep(self, request: PairingRequest) -> None:
        """Store a request that admission made."""
        await self._store.ask(request)

    async def link(self, address: str, person: str, name: str = "") -> Person:
        """Link the address to the person. Raises InvalidRequest."""
        return await self._link(_address(address), _person_id(person), one_line(name, _MAX_NAME), "people.link")

    async def unlink(self, address: str) -> SenderAddress:
        """Remove the address from its person. Raises NotFound, InvalidRequest."""
        found = _address(address)
        if not await self._store.unlink(found, _audit_entry("people.unlink", found)):
            raise NotFound(
                translatable("{found} is not linked to a person; `hob people list` shows all addresses", found=found)
            )
        self.people.renew(await self._store.persons())
        return found

    async def forget(self, person: str) -> None:
        """Remove the person with all addresses. Raises NotFound, InvalidRequest for the owner."""
        id = _person_id(person)
        await self._store.forget(id, _audit_entry("people.forget", id))
        self.people.renew(await self._store.persons())

    async def erase(self, person: Person | None, addresses: tuple[SenderAddress, ...]) -> None:
        """Remove the person and any requests from these addresses. The audit log records the removal without a name."""
        entry = of_action("people.erase", "done", SenderClass.OWNER, target="")
        await self._store.erase(person.id if person else None, addresses, entry)
        await self.load()

    async def approve(self, code: str, person: str = "", name: str = "") -> Person:
        """Admit the sender who holds this code, as this person or as a new one. Raises NotFound for an unknown code."""
        request = self._request(code)
        name = one_line(name, _MAX_NAME)
        if person:
            return await self._link(request.address, _person_id(person), name, "pairing.approve")
        # a name that senders choose for themselves never makes them an existing person
        id, name = self._free_id(name or request.name), name or request.name
        return await self._link(request.address, id, name, "pairing.approve")

    async def deny(self, code: str) -> PairingRequest:
        """Refuse the sender who holds this code, who gets no further code. Raises NotFound."""
        request = self._request(code)
        await self._store.deny(request, _audit_entry("pairing.deny", request.address))
        self.pairing.settle(request.address, denied=True)
        return request

    async def _link(self, address: SenderAddress, person: str, name: str, action: str) -> Person:
        linked = await self._store.link(address, person, name, _audit_entry(action, f"{address} is {person}"))
        self.people.renew(await self._store.persons())
        self.pairing.settle(address, denied=False)
        return linked

    def _request(self, code: str) -> PairingRequest:
        request = self.pairing.find(code)
        if request is None:
            raise NotFound(
                translatable("no one is waiting with the code {code}; `hob pairing list` shows who is", code=code)
            )
        return request

    def _free_id(self, name: str) -> str:
        taken = {person.id for person in self.people}
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:30] or "guest"
        return next(id for n in range(1, len(taken) + 2) if (id := stem if n == 1 else f"{stem}-{n}") not in taken)


def _audit_entry(action: str, target: object) -> AuditEntry:
    return of_action(action, "done", SenderClass.OWNER, target=str(target))


def _address(text: str) -> SenderAddress:
    try:
        address = SenderAddress.parse(text)
    except ValueError as error:
        raise InvalidRequest(str(error)) from None
    if address.channel in POLLED_CHANNELS or address.id == "*":
        raise InvalidRequest(
            translatable(
                "{address} cannot be a person's address: the terminal and the API are the owner's, * is everybody",
                address=address,
            )
        )
    return address


def _person_id(text: str) -> str:
    id = text.strip().lower()
    if not _ID.fullmatch(id):
        raise InvalidRequest(
            translatable(
                "invalid name {text!r} of a person; use letters, digits, dots and dashes, e.g. anna", text=text
            )
        )
    return id


ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Lacks 0, O, 1 and I, which are easily confused."""
CODE_LENGTH = 8
LIFETIME = 3600.0
MAX_PENDING = 3
"""Maximum open requests per account. Further people get no code, so that codes of others cannot be flushed."""


class Pairing:
    """The open requests. Lifetimes are measured with the monotonic clock while this process runs."""

    def __init__(self, clock: Clock, requests: Iterable[PairingRequest] = ()) -> None:
        self._clock = clock
        self._open: dict[str, tuple[PairingRequest, float]] = {}
        self._denied: set[SenderAddress] = set()
        self._untold: set[str] = set()
        self.renew(requests)

    def renew(self, requests: Iterable[PairingRequest]) -> None:
        """Add the requests of an earlier process, including denied ones."""
        wall, now = self._clock.now().timestamp(), self._clock.monotonic()
        for request in requests:
            if request.denied:
                self._denied.add(request.address)
            else:
                left = min(LIFETIME, request.expires - wall)
                self._open[request.code] = (request, now + left)
                self._untold.add(request.code)

    def ask(self, address: SenderAddress, name: str) -> PairingRequest | None:
        """Create a request. Returns None if one is already open, was denied, or the account has too many.

        A request from an earlier process is returned once more, because the sender may never have received its code.
        """
        pending = self.pending()
        untold = next((each for each in pending if each.address == address and each.code in self._untold), None)
        if untold is not None:
            self._untold.discard(untold.code)
            return untold
        here = [each for each in pending if _account(each.address) == _account(address)]
        if address in self._denied or len(here) >= MAX_PENDING or any(each.address == address for each in here):
            return None
        at = self._clock.now().timestamp()
        request = PairingRequest(_new_code(), address, name, at, at + LIFETIME)
        self._open[request.code] = (request, self._clock.monotonic() + LIFETIME)
        return request

    def pending(self) -> tuple[PairingRequest, ...]:
        """Return the pending requests, oldest first."""
        now = self._clock.monotonic()
        self._open = {code: (request, until) for code, (request, until) in self._open.items() if until > now}
        return tuple(request for request, _ in self._open.values())

    def find(self, code: str) -> PairingRequest | None:
        """Return the open request with this code, ignoring case, spaces and dashes."""
        wanted = "".join(sign for sign in code.upper() if sign.isalnum())
        return next((request for request in self.pending() if request.code == wanted), None)

    def settle(self, address: SenderAddress, *, denied: bool) -> None:
        """Close the request after the owner has answered it or linked the address."""
        self._open = {code: each for code, each in self._open.items() if each[0].address != address}
        (self._denied.add if denied else self._denied.discard)(address)


def _account(address: SenderAddress) -> tuple[str, str]:
    return address.channel, address.account


def _new_code() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
