"""The owner's hand on who comes in: every change goes into the store first, then to the gate."""

import re
import unicodedata

from hob.core.clock import Clock
from hob.core.errors import InvalidRequest, NotFound
from hob.core.labels import SenderClass
from hob.core.messages import FETCHED_CHANNELS
from hob.core.people import PairingRequest, Person, SenderAddress
from hob.guard.admission.contents import one_line
from hob.guard.admission.pairing import Pairing
from hob.guard.admission.people import People
from hob.guard.audit.entries import of_action
from hob.store.audit.audit import AuditEntry
from hob.store.people import StoredPeople

_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")
_MOST_NAME = 100


class PairingService:
    """People and requests, in the store and for the gate. Nothing but the owner's own commands may call its changes."""

    def __init__(self, store: StoredPeople, clock: Clock) -> None:
        self._store = store
        self.people = People()
        self.pairing = Pairing(clock)

    async def load(self) -> None:
        """Read what is stored; before the gate takes its first message."""
        self.people.renew(await self._store.persons())
        self.pairing.renew(await self._store.requests())

    def pending(self) -> tuple[PairingRequest, ...]:
        """Who asks to be let in, oldest first."""
        return self.pairing.pending()

    async def keep(self, request: PairingRequest) -> None:
        """Store a request that the gate has made."""
        await self._store.ask(request)

    async def link(self, address: str, person: str, name: str = "") -> Person:
        """This address is that person's from now on. Raises InvalidRequest."""
        return await self._link(_address(address), _person_id(person), one_line(name, _MOST_NAME), "people.link")

    async def unlink(self, address: str) -> SenderAddress:
        """It is nobody's any more. Raises NotFound, InvalidRequest."""
        found = _address(address)
        if not await self._store.unlink(found, _told("people.unlink", found)):
            raise NotFound(f"{found} is linked to nobody; `hob people list` tells who has which address")
        self.people.renew(await self._store.persons())
        return found

    async def forget(self, person: str) -> None:
        """Nobody is that person any more. Raises NotFound, InvalidRequest for the owner."""
        id = _person_id(person)
        await self._store.forget(id, _told("people.forget", id))
        self.people.renew(await self._store.persons())

    async def erase(self, person: Person | None, addresses: tuple[SenderAddress, ...]) -> None:
        """Nobody is that person any more, nor has anybody asked from there; the audit log tells it without a name."""
        entry = of_action("people.erase", "done", SenderClass.OWNER, target="")
        await self._store.erase(person.id if person else None, addresses, entry)
        await self.load()

    async def approve(self, code: str, person: str = "", name: str = "") -> Person:
        """Let in whoever was told this code, as this person; without one, as somebody new. Raises NotFound."""
        request = self._request(code)
        name = one_line(name, _MOST_NAME)
        if person:
            return await self._link(request.address, _person_id(person), name, "pairing.approve")
        # their own word for themselves makes nobody of them who is there already
        id, name = self._free_id(name or request.name), name or request.name
        return await self._link(request.address, id, name, "pairing.approve")

    async def deny(self, code: str) -> PairingRequest:
        """Whoever was told this code gets no further one. Raises NotFound."""
        request = self._request(code)
        await self._store.deny(request, _told("pairing.deny", request.address))
        self.pairing.settle(request.address, denied=True)
        return request

    async def _link(self, address: SenderAddress, person: str, name: str, action: str) -> Person:
        linked = await self._store.link(address, person, name, _told(action, f"{address} is {person}"))
        self.people.renew(await self._store.persons())
        self.pairing.settle(address, denied=False)
        return linked

    def _request(self, code: str) -> PairingRequest:
        request = self.pairing.find(code)
        if request is None:
            raise NotFound(f"nobody waits with the code {code}; `hob pairing list` tells who does")
        return request

    def _free_id(self, name: str) -> str:
        taken = {person.id for person in self.people}
        plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
        stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:30] or "guest"
        return next(id for n in range(1, len(taken) + 2) if (id := stem if n == 1 else f"{stem}-{n}") not in taken)


def _told(action: str, target: object) -> AuditEntry:
    return of_action(action, "done", SenderClass.OWNER, target=str(target))


def _address(text: str) -> SenderAddress:
    try:
        address = SenderAddress.parse(text)
    except ValueError as error:
        raise InvalidRequest(str(error)) from None
    if address.channel in FETCHED_CHANNELS or address.id == "*":
        raise InvalidRequest(f"{address} is nobody's address: the terminal and the API are the owner's, * is everybody")
    return address


def _person_id(text: str) -> str:
    id = text.strip().lower()
    if not _ID.fullmatch(id):
        raise InvalidRequest(f"{text!r} is no name of a person here; use letters, digits, dots and dashes, e.g. anna")
    return id
