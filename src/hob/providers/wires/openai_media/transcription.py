"""Speech to text from `POST /audio/transcriptions`.

Format: https://developers.openai.com/api/reference/resources/audio/subresources/transcriptions/methods/create
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from hob.core.errors import ModelError, ModelFault
from hob.core.media import Transcript
from hob.core.models import Usage
from hob.providers.http.addresses import endpoint
from hob.providers.http.client import Client
from hob.providers.http.decoder import count_of
from hob.providers.http.forms import Form
from hob.providers.wires.openai_media.languages import language_code
from hob.providers.wires.openai_media.recordings import recording_ending

_MOST_SECONDS = 1e6


class OpenAITranscriber:
    """Implements `Transcriber`."""

    def __init__(self, client: Client, model: str) -> None:
        self._client = client
        self._model = model

    async def transcribe(self, audio: bytes, media_type: str, language: str = "") -> Transcript:
        if not audio:
            raise ModelError(ModelFault.BAD_REQUEST, "an empty recording says nothing")
        ending = recording_ending(audio, media_type)
        if not ending:
            raise ModelError(
                ModelFault.BAD_REQUEST,
                f"{media_type or 'it'} is no recording that can be written down; send ogg or mp3",
            )
        # OpenAI's newer models know only the plain form, which tells neither language nor length
        form = {"model": self._model, "response_format": "json" if self._model.startswith("gpt-") else "verbose_json"}
        if code := language_code(language):
            form["language"] = code
        file = (f"recording.{ending}", audio, media_type.partition(";")[0].strip() or f"audio/{ending}")
        try:
            answer = await self._client.fetch_json(partial(endpoint, path="/audio/transcriptions"), Form(form, file))
        except ModelError as error:
            if error.fault is not ModelFault.CONTEXT_OVERFLOW:
                raise
            words = f"the recording is too long for {self._client.host} ({error})"
            raise ModelError(ModelFault.BAD_REQUEST, words) from error
        return self._read(answer, code)

    def _read(self, answer: Any, language: str) -> Transcript:
        if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
            raise self._client.garbage("JSON that is no transcript")
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Transcript(
            answer["text"].strip(),
            language=language_code(answer.get("language")) or language,
            seconds=_seconds(answer.get("duration")) or _seconds(usage.get("seconds")),
            model=self._model,
            usage=_read_usage(usage),
        )


def _seconds(value: object) -> float:
    try:
        seconds = float(value) if isinstance(value, (int, float, str)) else 0.0
    except (ValueError, OverflowError):
        return 0.0
    return seconds if 0 < seconds < _MOST_SECONDS else 0.0


def _read_usage(usage: Mapping[str, Any]) -> Usage | None:
    tokens, output = count_of(usage, "input_tokens"), count_of(usage, "output_tokens")
    return Usage(tokens, output) if tokens or output else None
