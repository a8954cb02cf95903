"""Settings: showing them, and changing them while Hob runs."""

from typing import Any

from hob.core.errors import InvalidRequest
from hob.core.values import dataclass
from hob.gateway.answer_types import SettingsAnswer
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, etagged, json_response


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """The changes."""

    values: dict[str, Any] = field("values by key: a text, a number, true or false; null removes a change")


async def settings(call: EndpointCall[Nothing]) -> JsonResponse[SettingsAnswer]:
    """List every setting with its value, origin, and whether it may be changed here; secrets stay hidden."""
    return etagged(call.request, {"settings": call.api.operations.settings()})


async def change(call: EndpointCall[SettingsChange]) -> JsonResponse[SettingsAnswer]:
    """Change settings that are `changeable`, all or none. They apply at once, and override the file."""
    if not call.payload.values:
        raise InvalidRequest("values must name a setting")
    return json_response({"settings": await call.api.operations.change_settings(call.payload.values, call.caller.by)})
