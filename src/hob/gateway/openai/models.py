"""GET /v1/models and GET /v1/models/{id}.

Format: https://platform.openai.com/docs/api-reference/models
"""

from starlette.responses import Response

from hob.core.trust.labels import SenderClass
from hob.gateway.chat.receive import check_model
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing
from hob.gateway.http.reply import json_response
from hob.gateway.openai.answer_types import ModelAnswer
from hob.gateway.openai.ask import OWN_MODEL

_CREATED = 1_767_225_600  # OpenAI's format requires a date, and none is known


async def list_(call: EndpointCall[Nothing]) -> Response:
    """Answer `GET /v1/models`."""
    owners = call.api.models.names() if call.caller.cls is SenderClass.OWNER else ()
    names = dict.fromkeys((OWN_MODEL, *owners))
    return json_response({"object": "list", "data": [_model(name) for name in names]})


async def get(call: EndpointCall[Nothing]) -> Response:
    """Answer `GET /v1/models/{id}`."""
    if call.id != OWN_MODEL:
        check_model(call.api, call.caller, call.id)
    return json_response(_model(call.id))


def _model(name: str) -> ModelAnswer:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "hob"}
