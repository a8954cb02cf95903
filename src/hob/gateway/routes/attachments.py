"""Uploads: `POST /attachments` stores a file, which a message names by its id."""

import asyncio
from typing import TypedDict

from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.errors import InvalidRequest
from hob.core.ids import BlobId, digest
from hob.gateway.chat.untaken_uploads import note
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.reply import JsonResponse, json_response


class HandedInAnswer(TypedDict):
    """An uploaded file.

    id: for `attachments` of `POST /chat`
    size: bytes
    """

    id: str
    media_type: str
    size: int


async def post(call: EndpointCall[bytes]) -> JsonResponse[HandedInAnswer]:
    """Store the bytes of the body; `attachments` of `POST /chat` names them by the `id` in the answer.

    Their media type is detected from the bytes; messages accept the types in `admission.attachment_types`. Files that
    no message has named within `retention.uploads_days` are deleted. Callers other than the owner may have a limited
    number of unused files.
    """
    data = call.payload
    if not data:
        raise InvalidRequest("the body is empty; it must be the bytes of a file")
    api, media_type = call.api, detect_media_type(data[:HEAD_BYTES])
    id = BlobId(await asyncio.to_thread(digest, data))
    await note(api.store, call.caller, id, len(data), api.clock.now().timestamp())
    await api.store.blobs.put(data, media_type)
    return json_response({"id": id, "media_type": media_type, "size": len(data)})
