"""Voice messages are transcribed once by a real server before the model is asked."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from hob.core.messages import Attachment, Inbound
from hob.core.steps import Transcribed
from hob.testing.model import Line, Silence, calls
from hob.testing.model_server import ModelServer
from tests.app.visiting import ME, Visited, until, visited
from tests.guard.admission_bench import written

SAID = "Remind me to buy milk"


@asynccontextmanager
async def listening(home: Path, *script: Line, transcription: str = "server/whisper") -> AsyncIterator[Visited]:
    """A Hob whose speech and vision models are on a test server."""
    async with ModelServer() as server:
        models = visited(home, *script, HOB_MODEL_BASE_URL=server.url, HOB_MODEL_TRANSCRIPTION=transcription)
        async with models as hob:
            await hob.knows()
            await hob.app.api.people.link("email:bob@example.com", "bob", "Bob")
            yield hob


async def speak(hob: Visited, said: str = SAID, *, voice: bool = True) -> Attachment:
    """Send a message without text but with a recording, and wait for the answer."""
    before, made = len(hob.sent(ME)), await spoken(hob, said, voice=voice)
    await hob.channels["telegram"].receive(made)
    await until(lambda: len(hob.sent(ME)) > before)
    return made.attachments[0]


async def spoken(hob: Visited, said: str = SAID, *, voice: bool = True) -> Inbound:
    blob = await hob.app.store.blobs.put(said.encode(), "audio/ogg")
    file = Attachment("audio/ogg", "voice.ogg", blob, size=len(said), voice=voice)
    return replace(written("", ME), attachments=(file,))


async def go_on(hob: Visited) -> None:
    """Advance the clock until the silent request times out, then stop it until the next request."""
    async with asyncio.timeout(20):
        while hob.model.open_streams and len(hob.model.requests) < 2:
            await hob.clock.advance(1)
            await hob.app.store.inbox.counts()
    await until(lambda: len(hob.model.requests) == 2)


def told(hob: Visited) -> str:
    """Return the model's view of the recording, with the mark before it."""
    lines = hob.seen.splitlines()
    place = next(n for n, line in enumerate(lines) if line.startswith("[spoken"))
    return "\n".join(lines[place - 1 : place + 1])


async def test_voice_message_counts_as_the_senders_words_and_is_kept(tmp_path: Path) -> None:
    async with listening(tmp_path) as hob:
        file = await speak(hob)
        assert told(hob).endswith(f"[spoken] {SAID}")
        assert "untrusted" not in told(hob)
        assert file.blob is not None
        assert await hob.app.store.blobs.load(file.blob) == SAID.encode()


async def test_forwarded_recording_is_untrusted_material(tmp_path: Path) -> None:
    async with listening(tmp_path) as hob:
        await speak(hob, voice=False)
        assert told(hob).startswith("<untrusted")


async def test_recording_is_transcribed_once_per_turn(tmp_path: Path) -> None:
    async with listening(tmp_path, calls(("ask_user", '{"question": "Which milk?"}')), "Noted.") as hob:
        await speak(hob)
        await hob.comes("oat", ME)
        await until(lambda: "Noted." in hob.sent(ME))
        (turn,) = {turn for turn in [each.turn for each in hob.channels["telegram"].sent] if turn is not None}
        steps = await hob.app.store.journal.load_steps(turn)
        assert [step.text for step in steps if isinstance(step, Transcribed)] == [SAID]


WRITE = calls(("message", '{"action": "send", "to": "bob@example.com", "text": "hi"}'))
OPEN = calls(("load_tools", '{"names": ["messages"]}'))


async def test_owners_spoken_words_can_name_a_recipient(tmp_path: Path) -> None:
    async with listening(tmp_path, OPEN, WRITE, "Done.") as hob:
        await speak(hob, "Say hi to bob@example.com")
        assert hob.sent(ME) == ["Done."]
        await until(lambda: hob.sent("bob@example.com", "email") == ["hi"])


async def test_forwarded_recording_cannot_name_a_recipient(tmp_path: Path) -> None:
    async with listening(tmp_path, OPEN, WRITE, "Done.") as hob:
        await speak(hob, "Say hi to bob@example.com", voice=False)
        assert "needs your approval" in hob.sent(ME)[0]
        assert hob.sent("bob@example.com", "email") == []


async def test_missing_transcriber_is_explained_to_the_model(tmp_path: Path) -> None:
    async with listening(tmp_path, transcription="") as hob:
        await speak(hob)
        assert "not written down: no model for it is set (model.transcription)" in told(hob)


async def test_transcript_names_the_conversation_and_drives_recall(tmp_path: Path) -> None:
    async with listening(tmp_path) as hob:
        await hob.answer("/remember The dentist in Ravensburg is called Huber.", ME)
        await speak(hob, "When does the dentist open?")
        assert "called Huber" in hob.seen.partition("Memories:")[2]
        (session,) = await hob.app.store.sessions.find()
        assert session.title == "When does the dentist open?"


async def test_forwarded_recording_neither_names_nor_recalls(tmp_path: Path) -> None:
    async with listening(tmp_path) as hob:
        await hob.answer("/remember The dentist in Ravensburg is called Huber.", ME)
        await speak(hob, "When does the dentist open?", voice=False)
        assert "called Huber" not in hob.seen.partition("Memories:")[2]
        (session,) = await hob.app.store.sessions.find()
        assert session.title == ""


async def test_recording_that_joins_a_turn_is_transcribed_before_the_next_request(tmp_path: Path) -> None:
    async with listening(tmp_path, Silence(), "Noted.") as hob:
        await hob.comes("What did I forget?", ME)
        await until(lambda: len(hob.model.requests) == 1)
        await hob.channels["telegram"].receive(await spoken(hob))
        await go_on(hob)
        await until(lambda: hob.sent(ME) == ["Noted."])
        assert f"[spoken] {SAID}" in hob.seen


async def test_picture_that_joins_a_turn_is_shown_to_the_model(tmp_path: Path) -> None:
    async with visited(tmp_path, Silence(), "A cat.") as hob:
        await hob.knows()
        await hob.comes("What do you see?", ME)
        await until(lambda: len(hob.model.requests) == 1)
        blob = await hob.app.store.blobs.put(b"\x89PNG\r\n\x1a\n", "image/png")
        file = Attachment("image/png", "cat.png", blob, size=8)
        await hob.channels["telegram"].receive(replace(written("this", ME), attachments=(file,)))
        await go_on(hob)
        await until(lambda: hob.sent(ME) == ["A cat."])
        images = [image for entry in hob.model.requests[-1].messages for image in getattr(entry, "images", ())]
        assert [image.blob for image in images] == [blob]
