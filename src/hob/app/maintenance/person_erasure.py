"""`hob erase`: erasing a person, their messages, the results, and the memories of them."""

import asyncio
import re
from pathlib import Path

from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import SessionKey
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import Person, SenderAddress
from hob.core.values import dataclass
from hob.gateway.answer_types import ErasedAnswer
from hob.guard.admission.pairing import PairingService
from hob.store.erasure.copies import Copies, find_copies, senders_in
from hob.store.erasure.erasure import Erasure, ErasurePerson
from hob.store.store import Store

_SHORTEST = 3  # characters; shorter names are not searched for
_REASON = "the person was erased"


@dataclass(frozen=True, slots=True)
class _Found:
    person: Person | None
    addresses: tuple[SenderAddress, ...]
    whose: ErasurePerson
    names: re.Pattern[str] | None
    copies: Copies

    @property
    def session(self) -> SessionKey | None:
        return SessionKey(f"person:{self.person.id}") if self.person else None


class PersonErasure:
    """Previews and performs erasures, which may be repeated."""

    def __init__(self, store: Store, erasure: Erasure, pairing_service: PairingService, home: Path) -> None:
        self._store = store
        self._erasure = erasure
        self._registrar = pairing_service
        self._home = home

    async def __call__(self, who: str, preview: bool) -> ErasedAnswer:
        """Erase a person, by id or address; with `preview` only return their data and what would remain.

        Raises NotFound, InvalidRequest also while their work is running, StoreErrors.
        """
        found = await self._find(who)
        view = await self._view(found)
        if preview:
            return view
        pieces = await self._erasure.erase_person(found.whose, _REASON, found.session, found.copies, found.names)
        await self._registrar.erase(found.person, found.addresses)
        return {**view, "erased": pieces}

    async def _find(self, who: str) -> _Found:
        person = next((each for each in self._registrar.people if each.id == who.strip().lower()), None)
        addresses = person.addresses if person is not None else (_address(who),)
        if person is None:
            person = self._registrar.people.find(addresses[0])
            addresses = person.addresses if person is not None else addresses
        if person is not None and person.cls is SenderClass.OWNER:
            raise InvalidRequest(
                translatable("this is you: to erase everything, stop Hob and delete its home and the workspace")
            )
        copies = await asyncio.to_thread(find_copies, self._home)
        senders = {*await self._store.person_data.senders(), *await asyncio.to_thread(senders_in, copies)}
        theirs = tuple(sorted(key for key in senders if _is_one_of(key, addresses)))
        if person is None and not theirs and not any(each.address in addresses for each in self._registrar.pending()):
            raise NotFound(
                translatable("there is no person {who}, and no message from there; `hob people` lists them", who=who)
            )
        whose = ErasurePerson(theirs, tuple(map(str, addresses)), person.id if person else "")
        return _Found(person, addresses, whose, _names(person, addresses), copies)

    async def _view(self, found: _Found) -> ErasedAnswer:
        had = await self._store.person_data.of(found.whose, found.names)
        copies = (*found.copies.whole, *found.copies.others)
        return {
            "person": found.person.id if found.person else None,
            "name": found.person.name if found.person else "",
            "addresses": [str(address) for address in found.addresses],
            "messages": had.messages,
            "turns": had.turns,
            "conversations": had.sessions,
            "memories": list(had.memories),
            "notes": list(had.notes),
            "copies": {
                "erased": [str(file) for file in found.copies.whole],
                "deleted": [str(file) for file in found.copies.others],
            },
            "left": {
                "events": had.events,
                "mentions": dict(had.mentions),
                "sessions": list(had.named),
                "backups": sorted(str(file) for file in (self._home / "backups").glob("*.db") if file not in copies),
            },
        }


def _address(text: str) -> SenderAddress:
    try:
        return SenderAddress.parse(text)
    except ValueError:
        raise NotFound(
            translatable("there is no person {text}; `hob people` lists them, telegram:12345 names a sender", text=text)
        ) from None


def _is_one_of(key: str, addresses: tuple[SenderAddress, ...]) -> bool:
    channel, account, id = key.split(":", 2)
    address = SenderAddress.of(channel, id, account)
    return address in addresses or address.without_account() in addresses


def _names(person: Person | None, addresses: tuple[SenderAddress, ...]) -> re.Pattern[str] | None:
    """Return a pattern of their names and addresses, as whole words."""
    words = [*(str(address) for address in addresses), *(address.id for address in addresses)]
    words += [person.name, person.id] if person is not None else []
    usable = sorted({word for word in words if len(word) >= _SHORTEST}, key=len, reverse=True)
    either = "|".join(map(re.escape, usable))
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE) if usable else None
