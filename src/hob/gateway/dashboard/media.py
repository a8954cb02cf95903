"""Files of messages: typed by content, never served as anything a browser would execute."""

import re
from typing import Any

from starlette.responses import Response

from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.errors import NotFound
from hob.core.ids import BlobId
from hob.core.translation.language import translatable
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.fields import Nothing

_ID = re.compile(r"[0-9a-f]{64}")
_INLINE_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp", "audio/", "video/", "text/plain")
"""Types that a browser may show inline; everything else is downloaded."""
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


async def media(call: EndpointCall[Nothing]) -> Response:
    """Return a file of a message, or the part that `Range` selects."""
    if not _ID.fullmatch(call.id):
        raise NotFound(translatable("no file has this id"))
    return file_response(call, await call.api.store.blobs.load(BlobId(call.id)), call.id)


def file_response(call: EndpointCall[Any], data: bytes, digest: str) -> Response:
    """Return a file with this SHA-256, or the part that `Range` selects."""
    kind = detect_media_type(data[:HEAD_BYTES])
    shown = kind.startswith(_INLINE_TYPES)
    headers = {
        "accept-ranges": "bytes",
        "content-disposition": "inline" if shown else f'attachment; filename="{digest[:12]}"',
        "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
        "etag": f'"{digest}"',
    }
    kind = kind if shown else "application/octet-stream"
    wanted = _parse_range(call.header("range") or "", len(data))
    if wanted is None:
        return Response(data, headers=headers, media_type=kind)
    first, last = wanted
    if first > last:
        return Response(status_code=416, headers={**headers, "content-range": f"bytes */{len(data)}"})
    headers["content-range"] = f"bytes {first}-{last}/{len(data)}"
    return Response(data[first : last + 1], 206, headers, media_type=kind)


def _parse_range(header: str, size: int) -> tuple[int, int] | None:
    """Return the first and last byte of a range; None for the whole file. An unsatisfiable range has first > last."""
    found = _RANGE.fullmatch(header.strip())
    if found is None or not (found[1] or found[2]):
        return None
    if not found[1]:
        length = int(found[2][:18])
        return (max(0, size - length), size - 1) if length else (1, 0)
    first = int(found[1][:18])
    last = min(int(found[2][:18]), size - 1) if found[2] else size - 1
    return (first, last) if first < size and first <= last else (1, 0)
