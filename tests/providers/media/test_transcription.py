"""Speech to text."""

from contextlib import aclosing
from typing import Any

import pytest

from hob.core.content.media import SpeechTranscript
from hob.core.errors import ModelError, ModelFault
from hob.core.models import Usage
from hob.providers.wires.openai_media.transcription import OpenAITranscriber, detect_extension, find_language_code
from hob.testing.model_server import Fault, ModelServer, Reply
from hob.testing.model_server.openai_media import read_form
from tests.providers.canned import client_of, saying


async def heard(answer: Any, model: str = "whisper-1") -> SpeechTranscript:
    async with saying(answer) as client:
        return await OpenAITranscriber(client, model).transcribe(b"OggS", "audio/ogg")


@pytest.mark.parametrize(
    ("data", "media_type", "ending"),
    [
        (b"OggS", "application/octet-stream", "ogg"),
        (b"RIFF....WAVEfmt ", "audio/mpeg", "wav"),
        (b"ID3\4", "", "mp3"),
        (b"....ftypM4A ", "audio/x-caf", "m4a"),
        (b"....ftypisom", "", "mp4"),
        (b"\x1aE\xdf\xa3", "video/webm", "webm"),
        (b"?", "audio/ogg; codecs=opus", "ogg"),
        (b"?", "AUDIO/MPEG", "mp3"),
        (b"?", "audio/amr", ""),
        (b"\x89PNG", "image/png", ""),
        (b"", "", ""),
    ],
)
def test_recording_is_named_by_what_it_is(data: bytes, media_type: str, ending: str) -> None:
    assert detect_extension(data, media_type) == ending


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ("german", "de"),
        ("English", "en"),
        ("de", "de"),
        ("pt-BR", "pt"),
        ("klingon", ""),
        ("", ""),
        (None, ""),
        (7, ""),
    ],
)
def test_language_is_told_by_its_code(named: object, code: str) -> None:
    assert find_language_code(named) == code


@pytest.mark.parametrize(("model", "form"), [("whisper-1", "verbose_json"), ("gpt-4o-mini-transcribe", "json")])
async def test_form_says_what_the_model_understands(model: str, form: str) -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        await OpenAITranscriber(client, model).transcribe(b"hello", "audio/webm;codecs=opus", "German")
        sent = read_form(server.requests[-1])
    told = {name: field.body.decode() for name, field in sent.items()}
    assert told == {"model": model, "response_format": form, "language": "de", "file": "hello"}
    assert sent["file"].filename == "recording.webm"


async def test_fields_of_the_transcript_are_read() -> None:
    usage = {"type": "tokens", "input_tokens": 14, "output_tokens": 5}
    found = await heard({"text": " Hallo. ", "language": "german", "duration": "1.5", "usage": usage})
    assert found == SpeechTranscript("Hallo.", "de", 1.5, "whisper-1", Usage(14, 5))


@pytest.mark.parametrize("answer", [[], {}, {"text": None}, {"text": 7}, "x", b"<html>", b"hello"])
async def test_malformed_transcript_is_refused(answer: Any) -> None:
    with pytest.raises(ModelError) as caught:
        await heard(answer)
    assert caught.value.fault is ModelFault.GARBAGE


@pytest.mark.parametrize("told", [{"duration": "x"}, {"duration": -1}, {"duration": 1e300}, {"usage": []}])
async def test_unreadable_details_of_a_transcript_are_left_out(told: dict[str, Any]) -> None:
    assert await heard({"text": "Hallo.", **told}) == SpeechTranscript("Hallo.", model="whisper-1")


async def test_silence_is_no_error() -> None:
    assert (await heard({"text": ""})).text == ""


async def test_overlong_recording_is_reported_as_such() -> None:
    async with saying({"error": {"message": "Maximum content size limit exceeded"}}, status=413) as client:
        with pytest.raises(ModelError, match="recording is too long"):
            await OpenAITranscriber(client, "m").transcribe(b"OggS", "audio/ogg")


async def test_transient_failure_is_retried_with_the_whole_recording() -> None:
    spoilt = {"": Reply(fault=Fault.ERROR_503)}
    async with ModelServer(by_key=spoilt) as server, aclosing(client_of(server.url)) as client:
        with pytest.raises(ModelError) as caught:
            await OpenAITranscriber(client, "m").transcribe(b"hello", "audio/ogg")
        assert len(server.requests) > 1
        assert all(read_form(asked)["file"].body == b"hello" for asked in server.requests)
    assert caught.value.fault is ModelFault.OVERLOAD
