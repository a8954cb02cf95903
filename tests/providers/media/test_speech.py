"""Text to speech."""

import json
from contextlib import aclosing

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.providers.wires.openai_media.speech import MAX_BYTES, OpenAISpeaker
from hob.testing.model_server import Fault, ModelServer, Reply
from tests.providers.canned import client_of, saying, saying_forever


async def spoken(speaker: OpenAISpeaker, text: str, voice: str = "") -> bytes:
    return b"".join([piece async for piece in speaker.speak(text, voice)])


async def asked_for(text: str, voice: str = "") -> list[dict[str, str]]:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        await spoken(OpenAISpeaker(client, "m", packing="opus"), text, voice)
        return [json.loads(asked.body) for asked in server.requests]


async def test_request_as_documented() -> None:
    body = {"model": "m", "voice": "nova", "response_format": "opus", "input": "Hallo."}
    assert await asked_for(" Hallo. ") == [body]
    assert await asked_for("Hallo.", "onyx") == [{**body, "voice": "onyx"}]


@pytest.mark.parametrize("sentence", ["The hare runs across the street. ", "兎が道を走って渡ります。", "😀 "])
async def test_long_text_is_cut_between_sentences_and_nothing_is_lost(sentence: str) -> None:
    text = (sentence * 2_000)[:12_000]
    parts = [body["input"] for body in await asked_for(text)]
    assert "".join(parts) == text.strip()
    assert all(len(part.encode()) <= MAX_BYTES for part in parts)
    assert all(part.rstrip().endswith(sentence.rstrip()[-1]) for part in parts[:-1])


async def test_nothing_to_be_spoken_asks_nothing() -> None:
    assert await asked_for(" \n ") == []


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("cut_middle", ModelFault.CUT),
        ("cut_before", ModelFault.CUT),
        ("html_200", ModelFault.GARBAGE),
        ("empty_body", ModelFault.EMPTY),
        ("empty_answer", ModelFault.EMPTY),
        ("unauthorized", ModelFault.AUTH),
        ("payment", ModelFault.BILLING),
        ("error_503", ModelFault.OVERLOAD),
    ],
)
async def test_failure_is_seen_for_what_it_is(fault: str, expected: ModelFault) -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        with pytest.raises(ModelError) as caught:
            await spoken(OpenAISpeaker(client, "m"), f"FAULT {fault}")
    assert caught.value.fault is expected


async def test_failure_before_the_first_sound_is_retried() -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        assert await spoken(OpenAISpeaker(client, "m"), "FAULT error_503 2")
        assert len(server.requests) == 3


async def test_speech_that_was_heard_is_not_spoken_again() -> None:
    async with ModelServer() as server, aclosing(client_of(server.url)) as client:
        with pytest.raises(ModelError):
            await spoken(OpenAISpeaker(client, "m"), "FAULT cut_middle")
        assert len(server.requests) == 1


async def test_json_answer_is_not_audio() -> None:
    async with saying({"detail": "x"}) as client:
        with pytest.raises(ModelError) as caught:
            await spoken(OpenAISpeaker(client, "m"), "Hallo.")
    assert caught.value.fault is ModelFault.GARBAGE


async def test_rate_limited_key_is_followed_by_the_next() -> None:
    tired = {"k-tired": Reply(fault=Fault.RATE_LONG)}
    async with ModelServer(by_key=tired) as server, aclosing(client_of(server.url, "k-tired", "k-fresh")) as client:
        assert await spoken(OpenAISpeaker(client, "m"), "Hallo.")


async def test_unreachable_server_is_not_blamed_on_its_key() -> None:
    async with aclosing(client_of("http://127.0.0.1:1", "k-one", "k-two")) as client:
        with pytest.raises(ModelError) as caught:
            await spoken(OpenAISpeaker(client, "m"), "Hallo.")
    assert caught.value.fault is ModelFault.NETWORK


async def test_invalid_address_error_says_where_it_is_set() -> None:
    async with aclosing(client_of("http://[::1")) as client:
        with pytest.raises(ModelError, match=r"model\.base_url") as caught:
            await spoken(OpenAISpeaker(client, "m"), "Hallo.")
    assert caught.value.fault is ModelFault.SETTINGS


async def test_endless_audio_is_aborted() -> None:
    async with saying_forever(kind="audio/mpeg") as client:
        with pytest.raises(ModelError, match="sound without end") as caught:
            async for _ in OpenAISpeaker(client, "m").speak("Hello."):
                pass
    assert caught.value.fault is ModelFault.GARBAGE
