"""People and those who ask to be let in, as the API and the commands show and change them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from hob.core.messages import TOKEN_SENDER
from hob.core.people import PairingRequest, Person, SenderAddress
from hob.gateway.auth.tokens import Token


class Registry(Protocol):
    """Who is known, for the owner to look at and change."""

    @property
    def people(self) -> Iterable[Person]:
        """Everybody, the owner first."""

    def pending(self) -> Sequence[PairingRequest]:
        """Who asks to be let in, oldest first."""

    async def link(self, address: str, person: str, name: str = "") -> Person:
        """This address is that person's from now on. Raises InvalidRequest."""

    async def unlink(self, address: str) -> SenderAddress:
        """It is nobody's any more. Raises NotFound, InvalidRequest."""

    async def forget(self, person: str) -> None:
        """Nobody is that person any more. Raises NotFound, InvalidRequest."""

    async def approve(self, code: str, person: str = "", name: str = "") -> Person:
        """Let in whoever was told this code. Raises NotFound, InvalidRequest."""

    async def deny(self, code: str) -> PairingRequest:
        """Whoever was told this code gets no further one. Raises NotFound."""


def people_view(registry: Registry, tokens: Iterable[Token]) -> Mapping[str, Any]:
    """Everybody with their addresses; whoever holds a token of the API is a person of their own."""
    others = (
        Person(f"{TOKEN_SENDER}{each.name}", each.name, each.cls, (SenderAddress("api", f"{TOKEN_SENDER}{each.name}"),))
        for each in tokens
    )
    return {"people": [person_view(person) for person in (*registry.people, *others)]}


def person_view(person: Person) -> Mapping[str, Any]:
    """One person."""
    return {
        "id": person.id,
        "name": person.name,
        "class": person.cls.value,
        "addresses": [str(address) for address in person.addresses],
    }


def requests_view(registry: Registry) -> Mapping[str, Any]:
    """Who waits for an answer."""
    return {"requests": [request_view(request) for request in registry.pending()]}


def request_view(request: PairingRequest) -> Mapping[str, Any]:
    """One request."""
    return {
        "code": request.code,
        "address": str(request.address),
        "name": request.name,
        "asked": request.asked,
        "expires": request.expires,
    }
