"""Files that go with a message: handed in first, then named by it."""

from starlette.responses import Response

from hob.core.errors import InvalidRequest
from hob.core.screening.media import HEAD, media_type_of
from hob.gateway.endpoint import Call
from hob.gateway.reply import json_response

MOST_BYTES = 25_000_000


async def post(call: Call[bytes]) -> Response:
    """Keep the bytes of the body; `attachments` of `POST /chat` names them by the `id` that is answered.

    What they are is told by the bytes. A message takes what `admission.attachment_types` lists.
    """
    data = call.asked
    if not data:
        raise InvalidRequest("the body is empty; it must be the bytes of a file")
    media_type = media_type_of(data[:HEAD])
    id = await call.api.store.blobs.put(data, media_type)
    return json_response({"id": id, "media_type": media_type, "size": len(data)})
