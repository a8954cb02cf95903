"""The tools `image`, `tts` and `pdf`: results and refusals."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hob.core.content.media import Description, GeneratedImage, Speech
from hob.core.errors import ModelError, ModelFault, ToolFailed, ToolRefused
from hob.core.ids import SessionKey
from hob.core.trust.labels import SenderClass
from hob.testing.memory_store import memory_store
from hob.tools.documents.documents import DocumentReader
from hob.tools.filesystem.paths import Root, Roots
from hob.tools.media.media_tools import MediaTools, NoMedia
from tests.tools.calling import made, text_of
from tests.tools.documents.samples import pdf

PNG = b"\x89PNG\r\n\x1a\n" + bytes(16)
_CAT = {"prompt": "a cat", "path": "cat.png"}


class Eyes:
    """A fake vision and speech model."""

    async def describe(
        self, image: bytes, media_type: str, question: str, session: SessionKey, sender: SenderClass
    ) -> Description:
        if not media_type.startswith("image/"):
            raise ModelError(ModelFault.BAD_REQUEST, f"{media_type} is no picture")
        return Description(f"{len(image)} bytes of {media_type}; {question or 'a cat'}")

    async def draw(self, prompt: str, size: str, session: SessionKey, sender: SenderClass) -> GeneratedImage:
        return GeneratedImage(PNG + f"{size} {prompt}".encode(), "image/png")

    async def speak(self, text: str, voice: str, session: SessionKey, sender: SenderClass) -> Speech:
        return Speech(f"{voice}:{text}".encode() if text.strip() else b"", "audio/mpeg")


@pytest.fixture
async def tools(tmp_path: Path) -> AsyncIterator[MediaTools]:
    async with memory_store() as store:
        roots = Roots((Root("work", tmp_path),), base=tmp_path, home=tmp_path)
        yield MediaTools(Eyes(), DocumentReader(), roots, store.blobs)


async def test_picture_of_a_file_or_a_blob_is_described(tools: MediaTools, tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(PNG)
    seen = await made(tools.toolset, "image", path="a.png", question="Which animal?")
    assert seen.text == "24 bytes of image/png; Which animal?"
    assert not seen.label.trusted
    (tmp_path / "b.txt").write_text("no")
    with pytest.raises(ToolFailed, match="is no picture"):
        await made(tools.toolset, "image", path="b.txt")
    with pytest.raises(ToolRefused):
        await made(tools.toolset, "image", path="/etc/hostname")


async def test_generated_picture_is_a_new_file_and_shown(tools: MediaTools, tmp_path: Path) -> None:
    made_one = await made(tools.toolset, "image_generate", prompt="a hat", path="hat.png", size="1024x1024")
    assert (tmp_path / "hat.png").read_bytes() == PNG + b"1024x1024 a hat"
    assert made_one.text == "hat.png: 39 bytes, image/png; the tool message sends it as its file"
    assert [each.media_type for each in made_one.images] == ["image/png"]
    with pytest.raises(ToolFailed, match="there already"):
        await made(tools.toolset, "image_generate", prompt="a cat", path="hat.png")
    with pytest.raises(ToolRefused):
        await made(tools.toolset, "image_generate", prompt="a cat", path="/etc/cat.png")
    with pytest.raises(ToolFailed, match="size"):
        await made(tools.toolset, "image_generate", prompt="a cat", path="cat.png", size="9x9")


async def test_speech_is_written_to_a_new_file(tools: MediaTools, tmp_path: Path) -> None:
    assert "audio/mpeg" in await text_of(tools.toolset, "tts", text="hello", path="hi.mp3", voice="nova")
    assert (tmp_path / "hi.mp3").read_bytes() == b"nova:hello"
    with pytest.raises(ToolFailed, match="there already"):
        await made(tools.toolset, "tts", text="other", path="hi.mp3")
    assert (tmp_path / "hi.mp3").read_bytes() == b"nova:hello"
    kept = await text_of(tools.toolset, "tts", text="hello")
    assert kept.startswith("blob:")
    with pytest.raises(ToolFailed, match="nothing in the text"):
        await made(tools.toolset, "tts", text=" ")


async def test_requested_pdf_pages_are_read_and_the_rest_counted(tools: MediaTools, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf(*(f"This is page {n}." for n in range(1, 26))))
    some = await text_of(tools.toolset, "pdf", path="a.pdf", pages="2-3")
    assert "[page 2]\nThis is page 2." in some
    assert "page 3" in some
    assert "page 4" not in some
    assert '[more: pages="4-23" of 25]' in some
    assert 'pages="21-25"' in await text_of(tools.toolset, "pdf", path="a.pdf")
    for wrong in ("x", "3-1", "1-21", "0"):
        with pytest.raises(ToolFailed, match="pages"):
            await made(tools.toolset, "pdf", path="a.pdf", pages=wrong)
    with pytest.raises(ToolFailed, match="up to page 25"):
        await made(tools.toolset, "pdf", path="a.pdf", pages="30")


async def test_missing_media_models_are_reported(tmp_path: Path) -> None:
    async with memory_store() as store:
        roots = Roots((Root("work", tmp_path),), base=tmp_path, home=tmp_path)
        tools = MediaTools(NoMedia(), DocumentReader(), roots, store.blobs)
        (tmp_path / "a.png").write_bytes(PNG)
        for name, arguments in (("image", {"path": "a.png"}), ("tts", {"text": "hi"}), ("image_generate", _CAT)):
            with pytest.raises(ToolFailed, match="no model is connected"):
                await made(tools.toolset, name, **arguments)
