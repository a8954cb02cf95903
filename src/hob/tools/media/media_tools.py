"""The tools `image`, `image_generate`, `tts` and `pdf`."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from hob.core.content.documents import Documents, DocumentSection, DocumentUnreadable
from hob.core.content.images import Image
from hob.core.content.media import Description, GeneratedImage, Speech
from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.errors import ModelError, ModelFault, NotFound, ToolFailed
from hob.core.ids import BlobId, SessionKey
from hob.core.ports.tools import Blobs, CallContext
from hob.core.translation.code_words import NO_MODEL
from hob.core.trust.labels import HOB_LABEL, Label, Origin, SenderClass, Trust
from hob.tools.filesystem.paths import Roots
from hob.tools.filesystem.whole_files import read_whole, write_new
from hob.tools.media.specs import IMAGE, IMAGE_GENERATE, PDF, TTS
from hob.tools.registry.declaration import ToolOutput, Tools, implements

BLOB = "blob:"
_UNTRUSTED = Label(Origin.FILE, Trust.UNTRUSTED)
_MAX_FILE = 10_000_000
_MAX_PAGES = 20
_PAGES = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?")
_PDF = "application/pdf"


class MediaModels(Protocol):
    """Vision, speech and image models."""

    async def describe(
        self, image: bytes, media_type: str, question: str, session: SessionKey, sender: SenderClass
    ) -> Description:
        """Describe a picture in words. Raises ModelError."""

    async def speak(self, text: str, voice: str, session: SessionKey, sender: SenderClass) -> Speech:
        """Synthesise speech. Raises ModelError."""

    async def draw(self, prompt: str, size: str, session: SessionKey, sender: SenderClass) -> GeneratedImage:
        """Generate a picture from a prompt. Raises ModelError."""


class NoMedia:
    """Implements `MediaModels` without any model."""

    async def describe(
        self, image: bytes, media_type: str, question: str, session: SessionKey, sender: SenderClass
    ) -> Description:
        raise ModelError(ModelFault.NOT_CONFIGURED, NO_MODEL)

    async def speak(self, text: str, voice: str, session: SessionKey, sender: SenderClass) -> Speech:
        raise ModelError(ModelFault.NOT_CONFIGURED, NO_MODEL)

    async def draw(self, prompt: str, size: str, session: SessionKey, sender: SenderClass) -> GeneratedImage:
        raise ModelError(ModelFault.NOT_CONFIGURED, NO_MODEL)


class MediaTools:
    """The media tools."""

    def __init__(self, models: MediaModels, documents: Documents, roots: Roots, blobs: Blobs) -> None:
        self._models = models
        self._documents = documents
        self._roots = roots
        self._blobs = blobs
        self.toolset = Tools(self.image, self.tts, self.pdf, self.image_generate)

    @implements(IMAGE, _UNTRUSTED)
    async def image(
        self,
        path: str,
        context: CallContext,
        question: str = "",
    ) -> str:
        data = await self._load(path)
        try:
            said = await self._models.describe(data, detect_media_type(data[:HEAD_BYTES]), question, *_payer(context))
        except ModelError as error:
            raise ToolFailed(str(error)) from error
        return said.text or "(nothing could be made out)"

    @implements(TTS, HOB_LABEL)
    async def tts(
        self,
        text: str,
        context: CallContext,
        path: str = "",
        voice: str = "",
    ) -> str:
        try:
            speech = await self._models.speak(text, voice, *_payer(context))
        except ModelError as error:
            raise ToolFailed(str(error)) from error
        if not speech.audio:
            raise ToolFailed("there is nothing in the text that can be spoken")
        size = f"{len(speech.audio):,} bytes, {speech.media_type}"
        if path:
            write_new(self._roots, path, speech.audio)
            return f"{path}: {size}"
        blob = await self._blobs.put(speech.audio, speech.media_type)
        return f"{BLOB}{blob}: {size}; the tool message sends it as its file"

    @implements(PDF, _UNTRUSTED)
    async def pdf(self, path: str, pages: str = "") -> ToolOutput:
        data = await self._load(path)
        if self._documents.kind(data, path) != _PDF:
            raise ToolFailed(f"{path} is no PDF; read shows other documents")
        first, last = _range(pages)
        try:
            document = await self._documents.read(data, _PDF)
        except DocumentUnreadable as error:
            raise ToolFailed(str(error)) from error
        count = max((section.page or 0 for section in document.sections), default=0)
        shown = [each for each in document.sections if first <= (each.page or 1) <= last]
        if not shown:
            raise ToolFailed(f"{path} has no text on these pages; there is text up to page {count}")
        text = _paged(shown)
        if last < count:
            text += f'\n\n[more: pages="{last + 1}-{min(count, last + _MAX_PAGES)}" of {count}]'
        return ToolOutput(text)

    @implements(IMAGE_GENERATE, HOB_LABEL)
    async def image_generate(
        self,
        prompt: str,
        path: str,
        context: CallContext,
        size: Literal["auto", "1024x1024", "1536x1024", "1024x1536"] = "auto",
    ) -> ToolOutput:
        self._check_new(path)  # checked before the owner pays for it
        try:
            made = await self._models.draw(prompt, size.removeprefix("auto"), *_payer(context))
        except ModelError as error:
            raise ToolFailed(str(error)) from error
        blob = await self._blobs.put(made.data, made.media_type)
        size_told = f"{len(made.data):,} bytes, {made.media_type}"
        shown = (Image(blob, made.media_type),)
        try:
            write_new(self._roots, path, made.data)
        except ToolFailed as error:  # it has been paid for already
            return ToolOutput(f"{error}; it is kept as {BLOB}{blob}: {size_told}", is_error=True, images=shown)
        return ToolOutput(f"{path}: {size_told}; the tool message sends it as its file", images=shown)

    def _check_new(self, name: str) -> None:
        place = self._roots.find(name)
        if not place.root.writable or not place.name:
            raise ToolFailed(f"{name} cannot be written")
        if Path(place.path).exists():
            raise ToolFailed(f"{name} is there already; give another name")

    async def _load(self, name: str) -> bytes:
        if name.startswith(BLOB):
            try:
                return await self._blobs.load(BlobId(name.removeprefix(BLOB)))
            except NotFound as error:
                raise ToolFailed(str(error)) from error
        return read_whole(self._roots, name, _MAX_FILE)


def _payer(context: CallContext) -> tuple[SessionKey, SenderClass]:
    inbounds = (*context.turn.inbounds, *context.turn.joined)
    return context.turn.session, inbounds[0].sender.cls if inbounds else SenderClass.OWNER


def _range(pages: str) -> tuple[int, int]:
    if not pages.strip():
        return 1, _MAX_PAGES
    found = _PAGES.fullmatch(pages.replace(" ", ""))
    if found is None:
        raise ToolFailed(f"pages are written like 3 or 1-5, not {pages!r}")
    first = int(found[1])
    last = int(found[2] or first)
    if not 1 <= first <= last or last - first >= _MAX_PAGES:
        raise ToolFailed(f"at most {_MAX_PAGES} pages at once, the first before the last")
    return first, last


def _paged(sections: Sequence[DocumentSection]) -> str:
    lines: list[str] = []
    page = None
    for each in sections:
        if each.page != page:
            page = each.page
            lines.append(f"[page {page}]")
        lines += filter(None, (each.heading, each.text))
    return "\n".join(lines)
