"""Values of media models: vectors, relevances, transcripts, descriptions, speech, pictures."""

from typing import Protocol

from hob.core.models import Usage
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One vector per text, in order, all of the same length, each of unit length."""

    vectors: tuple[tuple[float, ...], ...]
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Relevances:
    """How much each text helps with a question, in their order; the greater the better, on the model's own scale."""

    scores: tuple[float, ...]
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class SpeechTranscript:
    """What was said. `language` is an ISO 639-1 code, `seconds` the length of the audio; empty or 0: not told."""

    text: str
    language: str = ""
    seconds: float = 0.0
    model: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """What a picture shows, in words. They are untrusted: what stands in the picture may be in them."""

    text: str
    model: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class GeneratedImage:
    """A picture that a model made."""

    data: bytes
    media_type: str
    model: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Speech:
    """A text as sound."""

    audio: bytes
    media_type: str
    usage: Usage | None = None


class ImageGenerator(Protocol):
    """Makes pictures. Raises ModelError."""

    async def generate(self, prompt: str, size: str = "") -> GeneratedImage:
        """A picture of what the prompt says; `size` in pixels, as in 1024x1024, empty: as the model likes."""
