"""People and sender lists, looked up by address, and the session of a person."""

from collections.abc import Iterable, Iterator, Sequence

from hob.core.ids import SessionKey
from hob.core.messages import POLLED_CHANNELS, Address, Inbound
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import Person, SenderAddress


class People:
    """The owner and the people they admitted. Only the owner can link an address to a person."""

    def __init__(self, persons: Iterable[Person] = ()) -> None:
        self.renew(persons)

    def renew(self, persons: Iterable[Person]) -> None:
        """Replace all people."""
        self._persons = tuple(persons)
        self._by_address = {address: person for person in self._persons for address in person.addresses}

    def __iter__(self) -> Iterator[Person]:
        return iter(self._persons)

    def find(self, address: SenderAddress) -> Person | None:
        """Return the person with this address, or None."""
        return self._by_address.get(address) or (
            self._by_address.get(address.without_account()) if address.account else None
        )


class SenderList:
    """Addresses from the settings. `channel:*` stands for everybody on a channel."""

    def __init__(self, entries: Sequence[str]) -> None:
        self._listed = frozenset(map(SenderAddress.parse, entries))

    def names(self, address: SenderAddress) -> bool:
        """Return whether this exact address is listed."""
        return address in self._listed or address.without_account() in self._listed

    def opens(self, address: SenderAddress) -> bool:
        """Return whether everybody on its channel is listed."""
        everybody = SenderAddress(address.channel, "*", address.account)
        return everybody in self._listed or everybody.without_account() in self._listed

    def __contains__(self, address: SenderAddress) -> bool:
        return self.names(address) or self.opens(address)


def sender_address(inbound: Inbound) -> SenderAddress:
    """Return the sender's address."""
    return SenderAddress.of(inbound.origin.channel, inbound.sender.id, inbound.origin.account)


def group_address(origin: Address) -> SenderAddress:
    """Return the group's address in the form used in the settings."""
    return SenderAddress.of(origin.channel, origin.chat, origin.account)


def person_session(inbound: Inbound, people: People) -> SessionKey | None:
    """Return the key of the direct conversation with this person; None for groups, threads and unknown people.

    Strangers never share a conversation, nor does anybody on an unauthenticated channel, where the sender class is
    lower than the person's.
    """
    if inbound.group or inbound.origin.thread or inbound.origin.channel in POLLED_CHANNELS:
        return None
    person = people.find(sender_address(inbound))
    known = person is not None and person.cls is inbound.sender.cls is not SenderClass.STRANGER
    return SessionKey(f"person:{person.id}") if person is not None and known else None
