"""Image generation with `POST /images/generations`.

Format: https://developers.openai.com/api/reference/resources/images/methods/generate
"""

import base64
import binascii
from functools import partial

from hob.core.content.media import GeneratedImage
from hob.core.models import Usage
from hob.providers.http.addresses import endpoint_url
from hob.providers.http.client import Client
from hob.providers.http.decoder import read_token_count
from hob.providers.media.image_descriptions import detect_image_type

_OWN_FORMAT = ("gpt-image", "chatgpt-image")
"""Models that always return image data; others are asked for it instead of a URL."""


class OpenAIImages:
    """Implements `ImageGenerator`."""

    def __init__(self, client: Client, model: str) -> None:
        self._client = client
        self._model = model

    async def generate(self, prompt: str, size: str = "") -> GeneratedImage:
        body: dict[str, object] = {"model": self._model, "prompt": prompt, "n": 1}
        if size:
            body["size"] = size
        if not self._model.startswith(_OWN_FORMAT):
            body["response_format"] = "b64_json"
        answer = await self._client.fetch_json(partial(endpoint_url, path="/images/generations"), body)
        rows = answer.get("data") if isinstance(answer, dict) else None
        coded = rows[0].get("b64_json") if isinstance(rows, list) and rows and isinstance(rows[0], dict) else None
        try:
            data = base64.b64decode(coded, validate=True) if isinstance(coded, str) else b""
        except (binascii.Error, ValueError):
            data = b""
        kind = detect_image_type(data)
        if not kind:
            raise self._client.garbage("an answer without a picture")
        told = answer.get("usage") or {}
        taken = Usage(read_token_count(told, "input_tokens"), read_token_count(told, "output_tokens"))
        return GeneratedImage(data, kind, self._model, taken if taken.output else None)
