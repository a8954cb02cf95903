"""The ports of media models: vectors, transcription, speech, pictures, descriptions. All raise ModelError."""

from collections.abc import AsyncIterator, Sequence
from typing import Protocol

from hob.core.content.media import Description, Embeddings, SpeechTranscript


class Embedder(Protocol):
    """Turns texts into vectors whose scalar product tells how near their meanings are."""

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """The vectors; nothing is asked for no texts."""


class Transcriber(Protocol):
    """Turns speech into text."""

    async def transcribe(self, audio: bytes, media_type: str, language: str = "") -> SpeechTranscript:
        """What is said in the audio; `language`, where it is known, helps."""


class Speaker(Protocol):
    """Turns text into speech."""

    media_type: str

    def speak(self, text: str, voice: str = "") -> AsyncIterator[bytes]:
        """The audio, piece by piece. After an error nothing of it is whole. An empty voice is the configured one."""


class Describer(Protocol):
    """Tells what a picture shows, for models that cannot see."""

    async def describe(self, image: bytes, media_type: str, question: str = "") -> Description:
        """What it shows, in words; with a question, its answer."""
