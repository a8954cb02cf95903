"""Text to speech with `POST /audio/speech`.

Format: https://developers.openai.com/api/reference/resources/audio/subresources/speech/methods/create
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from functools import partial

from hob.core.content.chunks import split_text
from hob.providers.http.addresses import endpoint_url
from hob.providers.http.client import Client

MAX_BYTES = 4_096
"""UTF-8 bytes per request. OpenAI accepts 4,096 characters, newer models 2,000 tokens; if a letter has several bytes, a
token has hardly more than one letter.
"""

MAX_AUDIO = 64 * 1024 * 1024
"""Bytes of audio per request: twenty minutes uncompressed, for text that is read in five."""

MEDIA_TYPES: Mapping[str, str] = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "pcm": "audio/pcm",
}
"""Formats whose pieces can be concatenated."""


class OpenAISpeaker:
    """Implements `Speaker`. A long text is sent in several requests, split at sentences."""

    def __init__(self, client: Client, model: str, *, voice: str = "nova", packing: str = "mp3") -> None:
        self.media_type = MEDIA_TYPES[packing]
        self._client = client
        self._body = {"model": model, "voice": voice, "response_format": packing}

    async def speak(self, text: str, voice: str = "") -> AsyncGenerator[bytes]:
        """Yield the audio. Text with nothing to pronounce gives none."""
        body = {**self._body, "voice": voice} if voice else self._body
        for part in _split_speech(text):
            async with aclosing(
                self._client.stream(partial(endpoint_url, path="/audio/speech"), {**body, "input": part})
            ) as pieces:
                size = 0
                async for piece in pieces:
                    size += len(piece)
                    if size > MAX_AUDIO:
                        raise self._client.garbage("sound without end")
                    yield piece


def _split_speech(text: str) -> list[str]:
    text = text.strip()
    size = len(text.encode("utf-8", "replace"))
    if not size:
        return []
    limit = max(1, MAX_BYTES * len(text) // max(size, MAX_BYTES))
    return [part for part in split_text(text, min(limit, MAX_BYTES)) if part.strip()]
