"""What commands need from the dashboard, over the Unix socket only: login links, and phones."""

from typing import Any, TypedDict

from hob.core.errors import NotFound
from hob.core.translation.language import translated
from hob.gateway.api import Api
from hob.gateway.auth.callers import WITH_THE_TOKEN, TokenScope
from hob.gateway.auth.login_codes import LASTS_SECONDS
from hob.gateway.http.endpoint import Endpoint, EndpointCall
from hob.gateway.http.fields import Nothing
from hob.gateway.http.reply import JsonResponse, json_response, requested_language
from hob.gateway.phone import Phone, PhoneAnswer, PhoneChoice, PhoneLinkAnswer


class DashboardLinkAnswer(TypedDict):
    """A link that signs a browser in, once."""

    address: str
    url: str


async def link(call: EndpointCall[Nothing]) -> JsonResponse[DashboardLinkAnswer]:
    """Create a link that signs one browser in as the owner, once, within five minutes."""
    api = call.api
    if not api.dashboard:
        raise NotFound("the dashboard does not listen here: see dashboard.port and gateway.port")
    code = _new_code(api)
    # the fragment is never sent to a server, so no log contains it
    return json_response({"address": api.dashboard, "url": f"{api.dashboard}/#login={code}"})


def _new_code(api: Api) -> str:
    return api.login_codes.issue(WITH_THE_TOKEN, api.clock.monotonic, api.keyring.owners_hash())


async def phone(call: EndpointCall[Nothing]) -> JsonResponse[PhoneAnswer]:
    """Report where phones reach the dashboard, whether it is open there, and where it could be (`dashboard.phone`)."""
    told, language = await call.api.port(Phone).view(), requested_language(call.request)
    if language:
        choices: list[PhoneChoice] = [
            {**each, "problem": translated(each["problem"], language)} for each in told["choices"]
        ]
        told = {**told, "problem": translated(told["problem"], language), "choices": choices}
    return json_response(told)


async def phone_link(call: EndpointCall[Nothing]) -> JsonResponse[PhoneLinkAnswer]:
    """Create the same link for a phone, with its QR code: rows of 0 (light) and 1 (dark), with the light border."""
    import segno  # loaded for QR codes only

    api = call.api
    place = await api.port(Phone).address()
    url = f"{place.url}/#login={_new_code(api)}"
    rows = [
        "".join("1" if dark else "0" for dark in row) for row in segno.make_qr(url, error="m").matrix_iter(border=2)
    ]
    return json_response(
        {"url": url, "address": place.url, "qr": rows, "seconds": LASTS_SECONDS, "authority": place.authority}
    )


ENDPOINTS: tuple[Endpoint[Any], ...] = (
    Endpoint("POST", "/dashboard/link", link, TokenScope.ADMIN, Nothing, errors=("not_found",), local=True),
    Endpoint("GET", "/dashboard/phone", phone, TokenScope.ADMIN, Nothing, local=True),
    Endpoint("POST", "/dashboard/phone", phone_link, TokenScope.ADMIN, Nothing, errors=("not_found",), local=True),
)
