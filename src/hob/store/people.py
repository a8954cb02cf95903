"""People, their addresses, and pairing requests."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import apsw

from hob.core.errors import InvalidRequest, NotFound
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import PairingRequest, Person, SenderAddress
from hob.store.audit.audit import AuditedPart, AuditEntry
from hob.store.database.part import transaction
from hob.store.database.rows import all_rows, changed, find_row

_REQUESTS = "SELECT code, channel, address, account, name, asked, expires, denied FROM pairing_requests"
_LINK = "INSERT INTO person_addresses (channel, account, address, person, linked) VALUES (?, ?, ?, ?, ?)"
_UNLINK = "DELETE FROM person_addresses WHERE channel = ? AND account = ? AND address = ?"
_WHOSE = "SELECT person FROM person_addresses WHERE channel = ? AND account = ? AND address = ?"
_SETTLE = "DELETE FROM pairing_requests WHERE channel = ? AND account = ? AND address = ?"


class StoredPeople(AuditedPart):
    """The people the owner has admitted. Only the owner may request changes.

    Each change writes its audit entries in the same transaction.
    """

    async def persons(self) -> tuple[Person, ...]:
        """Return all people, the owner first."""
        return await self._readers.read(_load_persons)

    async def link(self, address: SenderAddress, person: str, name: str = "", *entries: AuditEntry) -> Person:
        """Link the address to a person, creating a member for an unknown id; this closes the address's request.

        Raises InvalidRequest if the address belongs to another person.
        """
        at = self._now()

        def job(connection: apsw.Connection) -> Person:
            _link(connection, address, person, name, at)
            return _get_person(connection, person)

        return await self._audit.write(job, lambda _: entries)

    async def unlink(self, address: SenderAddress, *entries: AuditEntry) -> bool:
        """Unlink the address; return False if it was not linked."""
        place = _columns_of(address)
        return bool(await self._audit.write(lambda c: changed(c, _UNLINK, place), lambda n: entries if n else ()))

    async def forget(self, person: str, *entries: AuditEntry) -> None:
        """Remove the person and their addresses, not their messages. Raises NotFound, InvalidRequest for the owner."""

        def job(connection: apsw.Connection) -> None:
            if _get_person(connection, person).cls is SenderClass.OWNER:
                raise InvalidRequest(
                    translatable("the owner cannot be forgotten; unlink an address that is not yours any more")
                )
            connection.execute("DELETE FROM person_addresses WHERE person = ?", (person,))
            connection.execute("DELETE FROM persons WHERE id = ?", (person,))

        await self._audit.write(job, lambda _: entries)

    async def erase(self, person: str | None, addresses: Sequence[SenderAddress], *entries: AuditEntry) -> None:
        """Remove the person, if any, and all requests from these addresses."""

        def job(connection: apsw.Connection) -> None:
            for address in addresses:
                connection.execute(_UNLINK, _columns_of(address))
                connection.execute(
                    "DELETE FROM pairing_requests WHERE channel = ? AND address = ?", (address.channel, address.id)
                )
            if person is not None:
                connection.execute("DELETE FROM person_addresses WHERE person = ?", (person,))
                connection.execute("DELETE FROM persons WHERE id = ? AND class <> 'owner'", (person,))

        await self._audit.write(job, lambda _: entries)

    async def requests(self) -> tuple[PairingRequest, ...]:
        """Return the open and the denied requests, oldest first."""
        sql = f"{_REQUESTS} WHERE denied OR expires > ? ORDER BY seq"
        now = self._now()
        rows = await self._rows(sql, (now,))
        return tuple(map(_load_request, rows))

    @transaction
    def ask(self, connection: apsw.Connection, request: PairingRequest) -> None:
        """Store a pairing request; expired ones are removed."""
        r, now = request, self._now()
        sql = (
            "INSERT OR IGNORE INTO pairing_requests (code, channel, account, address, name, asked, expires)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)"
        )
        connection.execute("DELETE FROM pairing_requests WHERE NOT denied AND expires <= ?", (now,))
        connection.execute(sql, (r.code, *_columns_of(r.address), r.name, r.asked, r.expires))

    async def deny(self, request: PairingRequest, *entries: AuditEntry) -> None:
        """Deny a request; its address receives no further code."""

        def job(connection: apsw.Connection) -> None:
            if not changed(connection, "UPDATE pairing_requests SET denied = 1 WHERE code = ?", (request.code,)):
                raise NotFound(translatable("no one is waiting with the code {code}", code=request.code))

        await self._audit.write(job, lambda _: entries)


def _columns_of(address: SenderAddress) -> tuple[str, str, str]:
    return address.channel, address.account, address.id


def _link(connection: apsw.Connection, address: SenderAddress, person: str, name: str, at: float) -> None:
    row = find_row(connection, _WHOSE, _columns_of(address))
    if row is not None and row[0] != person:
        raise InvalidRequest(
            translatable("{address} is linked to {person}; unlink it there first", address=address, person=row[0])
        )
    sql = "INSERT OR IGNORE INTO persons (id, name, class, added) VALUES (?, ?, ?, ?)"
    connection.execute(sql, (person, name, SenderClass.MEMBER.value, at))
    if name:
        connection.execute("UPDATE persons SET name = ? WHERE id = ?", (name, person))
    if row is None:
        connection.execute(_LINK, (*_columns_of(address), person, at))
    connection.execute(_SETTLE, _columns_of(address))


def _load_persons(connection: apsw.Connection) -> tuple[Person, ...]:
    found: defaultdict[str, list[SenderAddress]] = defaultdict(list)
    sql = "SELECT person, channel, address, account FROM person_addresses ORDER BY linked, channel, address"
    for person, *place in all_rows(connection, sql):
        found[person].append(SenderAddress(*place))
    rows = all_rows(connection, "SELECT id, name, class FROM persons ORDER BY class = 'member', seq")
    return tuple(Person(id, name, SenderClass(cls), tuple(found[id])) for id, name, cls in rows)


def _get_person(connection: apsw.Connection, id: str) -> Person:
    for person in _load_persons(connection):
        if person.id == id:
            return person
    raise NotFound(translatable("there is no person {id}; `hob people list` lists them", id=id))


def _load_request(row: Sequence[Any]) -> PairingRequest:
    code, channel, address, account, name, asked, expires, denied = row
    return PairingRequest(code, SenderAddress(channel, address, account), name, asked, expires, bool(denied))
