"""Who is known and who asks to be let in; reached through the socket alone."""

from starlette.requests import Request
from starlette.responses import Response

from hob.gateway.people import people_view, person_view, request_view, requests_view
from hob.gateway.reply import api_of, json_response


async def people(request: Request) -> Response:
    """Everybody whom the owner has linked, with their addresses."""
    return json_response(people_view(api_of(request).people))


async def link(request: Request) -> Response:
    """`?address=` (`channel:id`) is that `?person=` from now on; `?name=` is what they are called."""
    query = request.query_params
    registry = api_of(request).people
    person = await registry.link(query.get("address", ""), query.get("person", ""), query.get("name", ""))
    return json_response(person_view(person))


async def unlink(request: Request) -> Response:
    """`?address=` is nobody's any more."""
    address = await api_of(request).people.unlink(request.query_params.get("address", ""))
    return json_response({"address": str(address)})


async def forget(request: Request) -> Response:
    """Nobody is that `?person=` any more; what they said stays."""
    person = request.query_params.get("person", "")
    await api_of(request).people.forget(person)
    return json_response({"id": person})


async def pairing(request: Request) -> Response:
    """Who was told a code and waits to be let in."""
    return json_response(requests_view(api_of(request).people))


async def approve(request: Request) -> Response:
    """Let in whoever was told this `?code=`, as that `?person=` or as somebody new, called `?name=`."""
    query = request.query_params
    person = await api_of(request).people.approve(query.get("code", ""), query.get("person", ""), query.get("name", ""))
    return json_response(person_view(person))


async def deny(request: Request) -> Response:
    """Whoever was told this `?code=` gets no further one."""
    denied = await api_of(request).people.deny(request.query_params.get("code", ""))
    return json_response(request_view(denied))
