"""Speech to text with `POST /audio/transcriptions`.

Format: https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from hob.core.content.media import SpeechTranscript
from hob.core.errors import ModelError, ModelFault
from hob.core.models import Usage
from hob.core.translation.language import translatable
from hob.providers.http.addresses import endpoint_url
from hob.providers.http.client import Client
from hob.providers.http.connection import Form
from hob.providers.http.decoder import make_usage, read_token_count
from hob.providers.http.fields import get_object

# Recording formats by first bytes; the sender's declaration may be wrong.

_BEGINNINGS = (
    (b"OggS", "ogg"),
    (b"fLaC", "flac"),
    (b"ID3", "mp3"),
    (b"\xff\xfb", "mp3"),
    (b"\xff\xf3", "mp3"),
    (b"\xff\xf2", "mp3"),
    (b"\x1aE\xdf\xa3", "webm"),
)
_TYPES: Mapping[str, str] = {
    "audio/flac": "flac",
    "audio/x-flac": "flac",
    "audio/m4a": "m4a",
    "audio/x-m4a": "m4a",
    "audio/mp4": "mp4",
    "video/mp4": "mp4",
    "audio/mp3": "mp3",
    "audio/mpeg": "mp3",
    "audio/ogg": "ogg",
    "audio/opus": "ogg",
    "application/ogg": "ogg",
    "audio/vnd.wave": "wav",
    "audio/wav": "wav",
    "audio/wave": "wav",
    "audio/x-wav": "wav",
    "audio/webm": "webm",
    "video/webm": "webm",
}


def detect_extension(data: bytes, media_type: str) -> str:
    """Return the file extension by which servers recognise the format; empty if unknown."""
    for beginning, ending in _BEGINNINGS:
        if data.startswith(beginning):
            return ending
    if data[:4] == b"RIFF" and data[8:12] == b"WAVE":
        return "wav"
    if data[4:8] == b"ftyp":
        return "m4a" if data[8:11] == b"M4A" else "mp4"
    return _TYPES.get(media_type.partition(";")[0].strip().lower(), "")


# Whisper's languages by ISO 639-1 code: its answers contain the name, requests the code.
#
# Names: https://github.com/openai/whisper/blob/main/whisper/tokenizer.py

_NAMES = """
afrikaans:af albanian:sq amharic:am arabic:ar armenian:hy assamese:as azerbaijani:az bashkir:ba basque:eu
belarusian:be bengali:bn bosnian:bs breton:br bulgarian:bg burmese:my catalan:ca chinese:zh croatian:hr
czech:cs danish:da dutch:nl english:en estonian:et faroese:fo finnish:fi french:fr galician:gl georgian:ka
german:de greek:el gujarati:gu hausa:ha hebrew:he hindi:hi hungarian:hu icelandic:is indonesian:id
italian:it japanese:ja javanese:jv kannada:kn kazakh:kk khmer:km korean:ko lao:lo latin:la latvian:lv
lingala:ln lithuanian:lt luxembourgish:lb macedonian:mk malagasy:mg malay:ms malayalam:ml maltese:mt
maori:mi marathi:mr mongolian:mn nepali:ne norwegian:no nynorsk:nn occitan:oc pashto:ps persian:fa
polish:pl portuguese:pt punjabi:pa romanian:ro russian:ru sanskrit:sa serbian:sr shona:sn sindhi:sd
sinhala:si slovak:sk slovenian:sl somali:so spanish:es sundanese:su swahili:sw swedish:sv tagalog:tl
tajik:tg tamil:ta tatar:tt telugu:te thai:th tibetan:bo turkish:tr turkmen:tk ukrainian:uk urdu:ur uzbek:uz
vietnamese:vi welsh:cy yiddish:yi yoruba:yo
"""
_CODES = dict(pair.split(":") for pair in _NAMES.split())


def find_language_code(named: object) -> str:
    """Return the code of a language that a server named, by name or code; empty if unknown."""
    if not isinstance(named, str):
        return ""
    name = named.strip().lower()
    if name in _CODES:
        return _CODES[name]
    code = name.partition("-")[0]
    return code if len(code) == 2 and code.isalpha() and code.isascii() else ""


_MAX_SECONDS = 1e6


class OpenAITranscriber:
    """Implements `Transcriber`."""

    def __init__(self, client: Client, model: str) -> None:
        self._client = client
        self._model = model

    async def transcribe(self, audio: bytes, media_type: str, language: str = "") -> SpeechTranscript:
        if not audio:
            raise ModelError(ModelFault.BAD_REQUEST, translatable("an empty recording says nothing"))
        ending = detect_extension(audio, media_type)
        if not ending:
            raise ModelError(
                ModelFault.BAD_REQUEST,
                translatable(
                    "{media_type} cannot be transcribed; send ogg or mp3",
                    media_type=media_type or "it",
                ),
            )
        # OpenAI's newer models support only the plain form, without language and length
        form = {"model": self._model, "response_format": "json" if self._model.startswith("gpt-") else "verbose_json"}
        if code := find_language_code(language):
            form["language"] = code
        file = (f"recording.{ending}", audio, media_type.partition(";")[0].strip() or f"audio/{ending}")
        try:
            answer = await self._client.fetch_json(
                partial(endpoint_url, path="/audio/transcriptions"), Form(form, file)
            )
        except ModelError as error:
            if error.fault is not ModelFault.CONTEXT_OVERFLOW:
                raise
            words = f"the recording is too long for {self._client.host} ({error})"
            raise ModelError(ModelFault.BAD_REQUEST, words) from error
        return self._read(answer, code)

    def _read(self, answer: Any, language: str) -> SpeechTranscript:
        if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
            raise self._client.garbage("JSON that is no transcript")
        usage = get_object(answer, "usage")
        return SpeechTranscript(
            answer["text"].strip(),
            language=find_language_code(answer.get("language")) or language,
            seconds=_seconds(answer.get("duration")) or _seconds(usage.get("seconds")),
            model=self._model,
            usage=_read_usage(usage),
        )


def _seconds(value: object) -> float:
    try:
        seconds = float(value) if isinstance(value, (int, float, str)) else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return seconds if 0 < seconds < _MAX_SECONDS else 0.0


def _read_usage(usage: Mapping[str, Any]) -> Usage | None:
    return make_usage(read_token_count(usage, "input_tokens"), read_token_count(usage, "output_tokens"))
