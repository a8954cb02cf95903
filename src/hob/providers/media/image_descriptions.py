"""Image descriptions for models without vision, written by another model."""

import asyncio
import os
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from hob.core.content.media import Description
from hob.core.content.media_types import HEAD_BYTES, detect_media_type
from hob.core.errors import ModelError, ModelFault, NotFound
from hob.core.ids import BlobId
from hob.core.models import ExtraCall, Image, KeepAlive, ModelEvent, ModelMessage, ModelRequest, UserMessage
from hob.core.ports.media import Describer
from hob.core.ports.model import Model
from hob.core.ports.tools import Blobs

_IMAGE_TYPES = frozenset(f"image/{kind}" for kind in ("png", "jpeg", "gif", "webp", "heic", "heif", "avif"))


def detect_image_type(data: bytes) -> str:
    """Return the media type by the first bytes; empty if no model accepts it as an image."""
    media_type = detect_media_type(data[:HEAD_BYTES])
    return media_type if media_type in _IMAGE_TYPES else ""


_MAX_KEPT = 256
_KEEP_ALIVE = KeepAlive()


class ImageDescriptions:
    """Cached image descriptions. Without a describer there are none.

    `ref` is the describing model; `local` says that it runs on the owner's machines.
    """

    def __init__(self, describer: Describer | None, blobs: Blobs, ref: str = "", *, local: bool = False) -> None:
        self._ref = ref
        self._local = local
        self._describer = describer
        self._blobs = blobs
        self._known: OrderedDict[BlobId, Description] = OrderedDict()
        self._looking = asyncio.Lock()
        self._mark = f"untrusted-picture-{os.urandom(5).hex()}"  # unknown to authors of images

    async def describe(self, image: Image, *, local_only: bool = False) -> tuple[str, ExtraCall | None]:
        """Return the text shown instead of the image, and the call that described it, if one was made now.

        A `local_only` image is never sent to other machines. Never raises.
        """
        if self._describer is None:
            return "[a picture that you cannot see, and no model is set to describe it (setting model.vision)]", None
        try:
            description, call = await self._look(image, self._describer, local_only)
        except NotFound as error:
            return _undescribed(error), None
        except ModelError as error:
            call = ExtraCall(self._ref, error.fault, error.usage, error.cost) if error.is_billable else None
            return _undescribed(error), call
        lead = "a picture that you cannot see; what another model saw on it stands between the marks"
        return f"[{lead}]\n<{self._mark}>\n{_remove_markers(description.text)}\n</{self._mark}>", call

    async def _look(self, image: Image, describer: Describer, local_only: bool) -> tuple[Description, ExtraCall | None]:
        async with self._looking:  # two concurrent answers must not pay twice for the same image
            known = self._known.get(image.blob)
            if known is not None:
                self._known.move_to_end(image.blob)
                return known, None
            if local_only and not self._local:
                why = "it may not leave the owner's machines, and model.vision does not run there"
                raise ModelError(ModelFault.FILTERED, why, cost=0)
            description = await describer.describe(await self._blobs.load(image.blob), image.media_type)
            self._known[image.blob] = description
            if len(self._known) > _MAX_KEPT:
                self._known.popitem(last=False)
            return description, ExtraCall(self._ref, "ok", description.usage)


class DescribingModel:
    """Implements `Model` over one without vision, replacing images by descriptions. Each is reported as `ExtraCall`."""

    def __init__(self, model: Model, sight: ImageDescriptions) -> None:
        self._model = model
        self._sight = sight

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Yield the model's answer."""
        messages: list[ModelMessage] = []
        for message in request.messages:
            if isinstance(message, UserMessage) and message.images:
                parts = [message.text] if message.text else []
                for image in message.images:
                    yield _KEEP_ALIVE  # shows the silence watchdog that work continues
                    words, call = await self._sight.describe(image, local_only=request.local_only)
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
    return f"[a picture that you cannot see, and that could not be described: {_remove_markers(str(error))}]"


def _remove_markers(words: str) -> str:
    """Remove anything that could be mistaken for a marker around untrusted text."""
    return words.replace("<", "&lt;").replace(">", "&gt;")
