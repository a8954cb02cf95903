"""Image generation with `:generateContent` of a Gemini image model.

Format: https://ai.google.dev/gemini-api/docs/image-generation
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from hob.core.content.media import GeneratedImage
from hob.providers.http.addresses import with_version
from hob.providers.http.client import Client
from hob.providers.media.image_descriptions import detect_image_type
from hob.providers.wires.gemini.wire import GenerateContent, read_usage

_SHAPES: Mapping[str, str] = {"1024x1024": "1:1", "1536x1024": "3:2", "1024x1536": "2:3"}


def key_header(key: str) -> Mapping[str, str]:
    """Return the header for a key."""
    return GenerateContent().headers(key)


class GeminiImages:
    """Implements `ImageGenerator`."""

    def __init__(self, client: Client, model: str) -> None:
        self._client = client
        self._model = model.removeprefix("models/")

    async def generate(self, prompt: str, size: str = "") -> GeneratedImage:
        """Generate an image; the size is converted to the nearest aspect ratio."""
        config: dict[str, Any] = {"responseModalities": ["IMAGE"]}
        if size in _SHAPES:
            config["imageConfig"] = {"aspectRatio": _SHAPES[size]}
        body = {"contents": [{"role": "user", "parts": [{"text": prompt}]}], "generationConfig": config}
        answer = await self._client.fetch_json(self._url, body)
        for coded in _find_images(answer):
            try:
                data = base64.b64decode(coded, validate=True)
            except (binascii.Error, ValueError):
                continue
            if kind := detect_image_type(data):
                return GeneratedImage(data, kind, self._model, read_usage(answer.get("usageMetadata") or {}))
        raise self._client.garbage("an answer without a picture")

    def _url(self, base_url: str) -> str:
        return f"{with_version(base_url, '/v1beta')}/models/{quote(self._model, safe='@')}:generateContent"


def _find_images(answer: Any) -> Iterator[str]:
    """Yield the images of an answer, ignoring everything else."""
    try:
        parts = answer["candidates"][0]["content"]["parts"]
        yield from (part["inlineData"]["data"] for part in parts if not part.get("thought") and "inlineData" in part)
    except (KeyError, IndexError, TypeError, AttributeError):
        return
