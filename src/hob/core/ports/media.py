"""Ports of media models: embeddings, transcription, speech, image description. All raise ModelError."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from hob.core.content.media import Description, Embeddings, SpeechTranscript


class Embedder(Protocol):
    """Turns texts into vectors whose scalar product measures similarity of meaning."""

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return one vector per text. No request is made if there are no texts."""


class Transcriber(Protocol):
    """Turns speech into text."""

    async def transcribe(self, audio: bytes, media_type: str, language: str = "") -> SpeechTranscript:
        """Transcribe the audio; a known `language` helps."""


class Speaker(Protocol):
    """Turns text into speech."""

    media_type: str

    def speak(self, text: str, voice: str = "") -> AsyncIterator[bytes]:
        """Yield the audio in pieces; after an error it is incomplete. An empty voice is the configured one."""


class Describer(Protocol):
    """Describes images for models that cannot see."""

    async def describe(self, image: bytes, media_type: str, question: str = "") -> Description:
        """Describe the image, or answer the question about it."""
