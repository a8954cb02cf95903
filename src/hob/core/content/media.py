"""Results of media models: vectors, relevance scores, transcripts, descriptions, speech, images."""

from typing import Protocol

from hob.core.models import Usage
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Embeddings:
    """One vector of unit length per text, in order, all with the same number of dimensions."""

    vectors: tuple[tuple[float, ...], ...]
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class RelevanceScores:
    """Relevance of each text to a question, in order; higher is better, on the model's own scale."""

    scores: tuple[float, ...]
    model: str
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class SpeechTranscript:
    """Transcribed speech. `language` is an ISO 639-1 code, `seconds` the length of the audio; empty or 0 if unknown."""

    text: str
    language: str = ""
    seconds: float = 0.0
    model: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Description:
    """An image described in words. The words are untrusted: they may quote text from the image."""

    text: str
    model: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class GeneratedImage:
    """An image made by a model."""

    data: bytes
    media_type: str
    model: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Speech:
    """A text as audio."""

    audio: bytes
    media_type: str
    usage: Usage | None = None


class ImageGenerator(Protocol):
    """Image generation model. Raises ModelError."""

    async def generate(self, prompt: str, size: str = "") -> GeneratedImage:
        """Generate an image from the prompt. `size` is in pixels, e.g. 1024x1024; if empty, the model decides."""
