"""POST /v1/embeddings.

Format: https://platform.openai.com/docs/api-reference/embeddings
"""

import base64
import struct
from collections.abc import Sequence
from typing import Any

from starlette.responses import Response

from hob.core.content.media import Embeddings
from hob.core.errors import ModelError, NotFound
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.failures import HttpRefusal
from hob.gateway.http.reply import json_response
from hob.gateway.openai.ask import OWN_MODEL, while_there
from hob.gateway.openai.errors import failed, wrong
from hob.gateway.openai.requests import EmbeddingRequest

_MAX_TEXTS = 2048
_MAX_CHARACTERS = 1_000_000


async def post(call: EndpointCall[EmbeddingRequest]) -> Response:
    """Answer `POST /v1/embeddings`."""
    texts = _texts(call.payload.input)
    try:
        ref = call.api.models.embedding("" if call.payload.model == OWN_MODEL else call.payload.model)
        made = await while_there(call.request, call.api.models.embed(texts, call.caller.cls))
    except NotFound as error:
        raise HttpRefusal("model_not_found", str(error), param="model") from error
    except ModelError as error:
        return failed(error.fault.value, str(error)).response()
    return Response(status_code=499) if made is None else _answer(call.payload, ref, made)


def _answer(payload: EmbeddingRequest, ref: str, made: Embeddings) -> Response:
    length = len(made.vectors[0])
    if payload.dimensions not in (None, length):
        raise wrong("dimensions", f"the vectors of {ref} have {length} numbers; leave it out")
    packed = payload.encoding_format == "base64"
    tokens = made.usage.input if made.usage is not None else 0
    rows = [
        {"object": "embedding", "index": place, "embedding": _packed(vector) if packed else vector}
        for place, vector in enumerate(made.vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return json_response({"object": "list", "data": rows, "model": ref, "usage": usage})


def _packed(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not 1 <= len(texts) <= _MAX_TEXTS:
        raise wrong("input", f"it must be a text, or a list of 1 to {_MAX_TEXTS} texts")
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise wrong(f"input[{place}]", "it must be a text; lists of tokens are not understood here")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise wrong(f"input[{place}]", "it is not UTF-8 text") from None
        if not text:
            raise wrong(f"input[{place}]", "it is empty; leave it out")
    if sum(map(len, texts)) > _MAX_CHARACTERS:
        raise wrong("input", f"send at most {_MAX_CHARACTERS} characters at once")
    return texts
