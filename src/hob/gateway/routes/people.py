"""Known people and pairing requests; over the Unix socket only."""

from collections.abc import Iterable
from typing import Annotated, TypedDict

from hob.core.messages import TOKEN_SENDER_PREFIX
from hob.core.trust.people import PairingRequest, Person, SenderAddress
from hob.core.values import dataclass
from hob.gateway.answer_types import ErasedAnswer
from hob.gateway.auth.tokens import Token
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, json_response
from hob.guard.admission.pairing import PairingService

PersonAnswer = TypedDict(
    "PersonAnswer",
    {"id": str, "name": str, "class": Annotated[str, "`owner`, `known` or the like"], "addresses": list[str]},
)


class PeopleAnswer(TypedDict):
    """The known people."""

    people: list[PersonAnswer]


class PairingRequestAnswer(TypedDict):
    """A pairing request."""

    code: str
    address: str
    name: str
    asked: float
    expires: float


class PairingAnswer(TypedDict):
    """The pairing requests."""

    requests: list[PairingRequestAnswer]


class UnlinkedAnswer(TypedDict):
    """An address that was unlinked."""

    address: str


class PersonForgottenAnswer(TypedDict):
    """A person who was forgotten."""

    id: str


@dataclass(frozen=True, slots=True)
class AddressLink:
    """An address and its person."""

    address: str = field("the address they write from, as `channel:id`", "")
    person: str = field("the person it belongs to", "")
    name: str = field("their name", "")


@dataclass(frozen=True, slots=True)
class AddressReference:
    """One address."""

    address: str = field("the address, as `channel:id`", "")


@dataclass(frozen=True, slots=True)
class PersonReference:
    """One person."""

    person: str = field("the person's id", "")


@dataclass(frozen=True, slots=True)
class PairingApproval:
    """A code, and the person to admit with it."""

    code: str = field("the code they were given", "")
    person: str = field("the person's id; empty for a new person", "")
    name: str = field("their name", "")


@dataclass(frozen=True, slots=True)
class PairingCode:
    """A pairing code."""

    code: str = field("the code they were given", "")


async def people(call: EndpointCall[Nothing]) -> JsonResponse[PeopleAnswer]:
    """List everyone whom the owner has linked, with their addresses."""
    return json_response(people_view(call.api.people, call.api.keyring.others()))


async def link(call: EndpointCall[AddressLink]) -> JsonResponse[PersonAnswer]:
    """Link an address to a person."""
    payload = call.payload
    return json_response(person_view(await call.api.people.link(payload.address, payload.person, payload.name)))


async def unlink(call: EndpointCall[AddressReference]) -> JsonResponse[UnlinkedAnswer]:
    """Unlink an address."""
    return json_response({"address": str(await call.api.people.unlink(call.payload.address))})


async def forget(call: EndpointCall[PersonReference]) -> JsonResponse[PersonForgottenAnswer]:
    """Forget a person; their messages stay."""
    await call.api.people.forget(call.payload.person)
    return json_response({"id": call.payload.person})


@dataclass(frozen=True, slots=True)
class ErasePersonRequest:
    """The person to erase."""

    person: str = field("the person's id, or an address as `channel:id`", "")
    preview: bool = field("only show what would be erased and what would remain", False)


async def erase(call: EndpointCall[ErasePersonRequest]) -> JsonResponse[ErasedAnswer]:
    """Erase a person: everything they said, what resulted from it, and all memories of them."""
    return json_response(await call.api.operations.erase(call.payload.person, preview=call.payload.preview))


async def pairing(call: EndpointCall[Nothing]) -> JsonResponse[PairingAnswer]:
    """List everyone who got a code and waits to be let in."""
    return json_response(requests_view(call.api.people))


async def approve(call: EndpointCall[PairingApproval]) -> JsonResponse[PersonAnswer]:
    """Let in the sender with this code, as an existing person or a new one."""
    payload = call.payload
    return json_response(person_view(await call.api.people.approve(payload.code, payload.person, payload.name)))


async def deny(call: EndpointCall[PairingCode]) -> JsonResponse[PairingRequestAnswer]:
    """Refuse the sender with this code; they get no other code."""
    return json_response(request_view(await call.api.people.deny(call.payload.code)))


def people_view(registry: PairingService, tokens: Iterable[Token]) -> PeopleAnswer:
    """Return everyone with their addresses; each holder of an API token is a separate person."""
    others = (
        Person(
            f"{TOKEN_SENDER_PREFIX}{each.name}",
            each.name,
            each.cls,
            (SenderAddress("api", f"{TOKEN_SENDER_PREFIX}{each.name}"),),
        )
        for each in tokens
    )
    return {"people": [person_view(person) for person in (*registry.people, *others)]}


def person_view(person: Person) -> PersonAnswer:
    """Return one person."""
    return {
        "id": person.id,
        "name": person.name,
        "class": person.cls.value,
        "addresses": [str(address) for address in person.addresses],
    }


def requests_view(registry: PairingService) -> PairingAnswer:
    """Return the open requests."""
    return {"requests": [request_view(request) for request in registry.pending()]}


def request_view(request: PairingRequest) -> PairingRequestAnswer:
    """Return one request."""
    return {
        "code": request.code,
        "address": str(request.address),
        "name": request.name,
        "asked": request.asked,
        "expires": request.expires,
    }
