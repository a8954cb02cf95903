"""OpenAI's embeddings, transcription, speech and images, and Jina's reranking.

https://platform.openai.com/docs/api-reference/embeddings, .../audio/createTranscription, .../audio/createSpeech,
.../images/create
"""

import base64
import re
import struct
import zlib
from collections.abc import Mapping, Sequence
from operator import mul
from typing import Any

from hob.core.values import dataclass
from hob.testing.model_server import openai
from hob.testing.model_server.hypertext import HttpRequest
from hob.testing.model_server.vectors import DIMENSIONS, make_vector
from hob.testing.model_server.wire import bad_request, refuse_if

# Multipart forms (RFC 7578).


@dataclass(frozen=True, slots=True)
class Field:
    """A form field. `filename` is empty unless it is a file."""

    body: bytes
    filename: str = ""


def read_form(http_request: HttpRequest) -> Mapping[str, Field]:
    """Return the form's fields by name. Raises ValueError."""
    found = re.fullmatch(
        r'multipart/form-data;.*?boundary="?([^";]+)"?.*', http_request.headers.get("content-type", "")
    )
    if found is None:
        raise ValueError("not a form")
    fields = {}
    for part in http_request.body.split(b"--" + found[1].encode())[1:-1]:
        head, _, body = part.partition(b"\r\n\r\n")
        named = dict(re.findall(r'(name|filename)="([^"]*)"', head.decode()))
        fields[named["name"]] = Field(body.removesuffix(b"\r\n"), named.get("filename", ""))
    return fields


_MAX_INPUTS = 2048
_SIZES = ("auto", "1024x1024", "1536x1024", "1024x1536")
_MAX_SPOKEN = 4096
_SUFFIXES = ("flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm")
_VOICES = (
    *("alloy", "ash", "ballad", "cedar", "coral", "echo", "fable", "marin"),
    *("nova", "onyx", "sage", "shimmer", "verse"),
)
_LANGUAGES = {"en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian", "ja": "japanese"}
_RATE = 24_000


def embeddings(request: Mapping[str, Any]) -> object:
    """Return one vector per text. Raises WireRefused."""
    model = openai.named_model(request)
    texts = get_texts(request)
    coded = request.get("encoding_format") == "base64"
    rows = []
    for index, text in enumerate(texts):
        vector: object = make_vector(text, request.get("dimensions") or DIMENSIONS)
        if coded and isinstance(vector, list):
            vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        rows.append({"object": "embedding", "index": index, "embedding": vector})
    tokens = sum(len(text.split()) for text in texts)
    return {"object": "list", "data": rows, "model": model, "usage": {"prompt_tokens": tokens, "total_tokens": tokens}}


def rerank(request: Mapping[str, Any]) -> object:
    """Rank the texts by similarity to the question, best first, like Jina and llama.cpp. Raises WireRefused.

    https://jina.ai/reranker
    """
    model, query, texts = openai.named_model(request), request.get("query") or "", request.get("documents") or []
    refuse_if(not isinstance(query, str) or not query, "Field required", "query")
    refuse_if(
        not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts),
        "Input should be a non-empty list of texts",
        "documents",
    )
    asked = make_vector(query, DIMENSIONS)
    rows = [
        {"index": place, "relevance_score": sum(map(mul, asked, make_vector(text, DIMENSIONS)))}
        for place, text in enumerate(texts)
    ]
    rows.sort(key=lambda row: -row["relevance_score"])
    tokens = sum(len(f"{query} {text}".split()) for text in texts)
    return {"model": model, "object": "list", "usage": {"total_tokens": tokens}, "results": rows}


def get_texts(request: Mapping[str, Any]) -> Sequence[str]:
    """Return the texts to embed; lists of tokens are not supported. Raises WireRefused."""
    found: Any = request.get("input")
    texts = [found] if isinstance(found, str) else found
    refuse_if(
        not isinstance(texts, list) or not 1 <= len(texts) <= _MAX_INPUTS,
        "Invalid 'input': expected a string, or an array of 1 to 2048.",
        "input",
    )
    for number, text in enumerate(texts):
        refuse_if(
            not isinstance(text, str) or not text,
            f"Invalid 'input[{number}]': input cannot be an empty string.",
            "input",
        )
    return texts


def transcription(http_request: HttpRequest) -> tuple[str, object | str]:
    """Return the text that may name a fault, and the transcript as JSON or text. A UTF-8 text file "says" its text.

    Raises WireRefused.
    """
    form = read_form(http_request)
    for name in ("file", "model"):
        refuse_if(name not in form, f"Missing required parameter: '{name}'.", name, "missing_required_parameter")
    audio = form["file"]
    refuse_if(
        audio.filename.rpartition(".")[2].lower() not in _SUFFIXES,
        f"Invalid file format. Supported formats: {list(_SUFFIXES)}",
        "file",
        "invalid_value",
    )
    seconds = _audio_seconds(audio.body)
    refuse_if(
        not audio.body, "Audio file is too short. Minimum audio length is 0.1 seconds.", "file", "audio_too_short"
    )
    text = _transcribed(audio.body, seconds)
    told = {name: field.body.decode() for name, field in form.items() if name != "file"}
    usage = {"type": "duration", "seconds": -(-seconds // 1)}
    match told.get("response_format", "json"):
        case "json":
            answer: object | str = {"text": text, "usage": usage}
        case "text":
            answer = f"{text}\n"
        case "verbose_json":
            segment = {"id": 0, "seek": 0, "start": 0.0, "end": seconds, "text": text, "tokens": [], "temperature": 0.0}
            answer = {
                "task": "transcribe",
                "language": _LANGUAGES.get(told.get("language", "en"), "english"),
                "duration": seconds,
                "text": text,
                "segments": [{**segment, "avg_logprob": -0.1, "compression_ratio": 1.0, "no_speech_prob": 0.0}],
                "usage": usage,
            }
        case other:
            raise bad_request(
                f"response_format '{other}' is not supported here.", "response_format", "unsupported_value"
            )
    return told.get("prompt", ""), answer


def _audio_seconds(audio: bytes) -> float:
    """Return the length of a WAV in seconds; other formats count as one second."""
    if audio[:4] != b"RIFF" or len(audio) < 44:
        return 1.0
    (rate,) = struct.unpack_from("<I", audio, 28)
    return (len(audio) - 44) / rate if rate else 0.0


def _transcribed(audio: bytes, seconds: float) -> str:
    if audio[:4] != b"RIFF":
        try:
            text = audio.decode()
        except UnicodeDecodeError:
            text = "\0"
        if text.isprintable():
            return text
    return f"You spoke for {seconds:g} seconds."


def speech(request: Mapping[str, Any]) -> tuple[str, list[bytes]]:
    """Return the media type and the audio of a text (silence, 60 ms per letter) in pieces. Raises WireRefused."""
    openai.named_model(request)
    text: Any = request.get("input")
    refuse_if(
        not isinstance(text, str) or not text,
        "Missing required parameter: 'input'.",
        "input",
        "missing_required_parameter",
    )
    refuse_if(
        len(text) > _MAX_SPOKEN,
        "Invalid 'input': string too long. Maximum length is 4096.",
        "input",
        "string_above_max_length",
    )
    refuse_if(
        request.get("voice") not in _VOICES,
        f"Invalid value: '{request.get('voice')}'. Supported values are: {_VOICES}.",
        "voice",
        "invalid_value",
    )
    kind = request.get("response_format", "mp3")
    refuse_if(
        kind not in _SOUNDS, f"Invalid value: '{kind}'. Supported values are: {tuple(_SOUNDS)}.", "response_format"
    )
    media_type, head, unit = _SOUNDS[kind]
    return media_type, [head, *([unit] * len(text))] if head else [unit] * len(text)


def image(request: Mapping[str, Any]) -> object:
    """Return a single-colour image chosen by the prompt, and its usage. Raises WireRefused."""
    model = openai.named_model(request)
    prompt: Any = request.get("prompt")
    refuse_if(
        not isinstance(prompt, str) or not prompt,
        "Missing required parameter: 'prompt'.",
        "prompt",
        "missing_required_parameter",
    )
    size = request.get("size") or "auto"
    refuse_if(size not in _SIZES, f"Invalid value: '{size}'. Supported values are: {_SIZES}.", "size", "invalid_value")
    own = model.startswith("gpt-image")
    refuse_if(own and "response_format" in request, "Unknown parameter: 'response_format'.", "response_format")
    colour = zlib.crc32(prompt.encode()).to_bytes(4, "big")[:3]
    row: dict[str, Any] = {"b64_json": base64.b64encode(_png(colour)).decode()}
    if not own and request.get("response_format", "url") == "url":
        row = {"url": "https://images.example/made.png"}
    words = len(prompt.split())
    usage = {
        "input_tokens": words,
        "input_tokens_details": {"image_tokens": 0, "text_tokens": words},
        "output_tokens": 272,
        "total_tokens": words + 272,
    }
    answer: dict[str, Any] = {"created": 1_790_000_000, "data": [row]}
    return {**answer, "output_format": "png", "size": "1024x1024", "usage": usage} if own else answer


def _png(colour: bytes, side: int = 16) -> bytes:
    """Return a PNG: https://www.w3.org/TR/png-3/"""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = zlib.compress((b"\0" + colour * side) * side)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def _wav_head() -> bytes:
    """Return the head of a WAV stream of unknown length: sizes are the maximum."""
    maximum = 0xFFFF_FFFF
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, _RATE, 2 * _RATE, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", maximum, b"WAVE") + form + struct.pack("<4sI", b"data", maximum)


_SILENCE = bytes(2 * _RATE * 60 // 1000)
# Silent frames; formats with more than a header (Opus, FLAC, AAC) are never decoded.
_SOUNDS: Mapping[str, tuple[str, bytes, bytes]] = {
    "mp3": ("audio/mpeg", b"", (b"\xff\xf3\x44\xc0" + bytes(92)) * 3),
    "opus": ("audio/ogg", b"OggS", bytes(64)),
    "aac": ("audio/aac", b"\xff\xf1", bytes(64)),
    "flac": ("audio/flac", b"fLaC", bytes(64)),
    "wav": ("audio/wav", _wav_head(), _SILENCE),
    "pcm": ("audio/pcm", b"", _SILENCE),
}
