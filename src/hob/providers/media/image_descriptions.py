"""Sight for models that have none: another model tells them what a picture shows."""

import asyncio
import os
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from hob.core.content.media import Description
from hob.core.errors import ModelError, ModelFault, NotFound
from hob.core.ids import BlobId
from hob.core.models import Beat, ExtraCall, Image, ModelEvent, ModelMessage, ModelRequest, UserMessage
from hob.core.ports.media import Describer
from hob.core.ports.model import Model
from hob.core.ports.tools import Blobs

# What kind of image some bytes are, by how they begin; what a sender calls them may be wrong.

_BEGINNINGS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_BRANDS = {  # of ISO base media files, https://www.iana.org/assignments/media-types/image/heic
    b"heic": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heif",
    b"msf1": "image/heif",
    b"avif": "image/avif",
}


def image_type(data: bytes) -> str:
    """The media type; empty if it is no image that any model takes."""
    for beginning, media_type in _BEGINNINGS:
        if data.startswith(beginning):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:8] == b"ftyp":
        return _BRANDS.get(data[8:12], "")
    return ""


_MAX_KEPT = 256
_BEAT = Beat()


class ImageDescriptions:
    """What pictures show, looked up once. Without a describer there is nothing to tell.

    `ref` is the model that looks; `local` says that it runs on the owner's machines.
    """

    def __init__(self, describer: Describer | None, blobs: Blobs, ref: str = "", *, local: bool = False) -> None:
        self._ref = ref
        self._local = local
        self._describer = describer
        self._blobs = blobs
        self._known: OrderedDict[BlobId, Description] = OrderedDict()
        self._looking = asyncio.Lock()
        self._mark = f"untrusted-picture-{os.urandom(5).hex()}"  # unknown to authors of pictures

    async def describe(self, image: Image, *, stays: bool = False) -> tuple[str, ExtraCall | None]:
        """What the model that cannot see is told of the picture, and the call that looked at it, if one did now.

        A picture that `stays` is never sent to other machines. Never raises.
        """
        if self._describer is None:
            return "[a picture that you cannot see, and no model is set to describe it (setting model.vision)]", None
        try:
            description, call = await self._look(image, self._describer, stays)
        except NotFound as error:
            return _undescribed(error), None
        except ModelError as error:
            call = ExtraCall(self._ref, error.fault, error.usage, error.cost) if error.may_cost else None
            return _undescribed(error), call
        lead = "a picture that you cannot see; what another model saw on it stands between the marks"
        return f"[{lead}]\n<{self._mark}>\n{_harmless(description.text)}\n</{self._mark}>", call

    async def _look(self, image: Image, describer: Describer, stays: bool) -> tuple[Description, ExtraCall | None]:
        async with self._looking:  # two answers at once must not pay for the same picture twice
            known = self._known.get(image.blob)
            if known is not None:
                self._known.move_to_end(image.blob)
                return known, None
            if stays and not self._local:
                why = "it may not leave the owner's machines, and model.vision does not run there"
                raise ModelError(ModelFault.FILTERED, why, cost=0)
            description = await describer.describe(await self._blobs.load(image.blob), image.media_type)
            self._known[image.blob] = description
            if len(self._known) > _MAX_KEPT:
                self._known.popitem(last=False)
            return description, ExtraCall(self._ref, "ok", description.usage)


class DescribingModel:
    """Implements `Model` over one that cannot see: its pictures come as words. Looking is told by `ExtraCall`."""

    def __init__(self, model: Model, sight: ImageDescriptions) -> None:
        self._model = model
        self._sight = sight

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """As the model."""
        messages: list[ModelMessage] = []
        for message in request.messages:
            if isinstance(message, UserMessage) and message.images:
                parts = [message.text] if message.text else []
                for image in message.images:
                    yield _BEAT  # who watches over the silence sees that it goes on
                    words, call = await self._sight.describe(image, stays=request.stays)
                    parts.append(words)
                    if call is not None:
                        yield call
                message = UserMessage("\n\n".join(parts))
            messages.append(message)
        asked = replace(request, messages=tuple(messages))
        async with aclosing(cast("AsyncGenerator[ModelEvent]", self._model.stream(asked))) as events:
            async for event in events:
                yield event


def _undescribed(error: Exception) -> str:
    return f"[a picture that you cannot see, and that could not be described: {_harmless(str(error))}]"


def _harmless(words: str) -> str:
    """The words without anything that could pass for a mark around untrusted text."""
    return words.replace("<", "&lt;").replace(">", "&gt;")
