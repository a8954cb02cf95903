"""Sight for models that have none: another model tells them what a picture shows."""

import asyncio
import os
from collections import OrderedDict
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from hob.core.errors import ModelError, NotFound
from hob.core.ids import BlobId
from hob.core.media import Description
from hob.core.models import Beat, Image, ModelEvent, ModelMessage, ModelReply, ModelRequest, Usage, UserMessage
from hob.core.ports.media import Describer
from hob.core.ports.model import Model, Prices
from hob.core.ports.tools import Blobs

_MOST_KEPT = 256
_BEAT = Beat()


class Sight:
    """What pictures show, looked up once. Without a describer nobody can tell. `ref` is the model that looks."""

    def __init__(self, describer: Describer | None, blobs: Blobs, ref: str = "", prices: Prices | None = None) -> None:
        self.ref = ref
        self.prices = prices
        self._describer = describer
        self._blobs = blobs
        self._known: OrderedDict[BlobId, Description] = OrderedDict()
        self._looking = asyncio.Lock()
        self._mark = f"untrusted-picture-{os.urandom(5).hex()}"  # nobody who draws a picture knows it

    async def tell(self, image: Image) -> tuple[str, Usage | None]:
        """What the model that cannot see is told of the picture, and what looking at it cost now. Never raises."""
        if self._describer is None:
            return "[a picture that you cannot see, and nobody is here to describe it: model.vision is not set]", None
        try:
            description, cost = await self._look(image, self._describer)
        except (ModelError, NotFound) as error:
            return f"[a picture that you cannot see, and that could not be described: {_harmless(str(error))}]", None
        lead = "a picture that you cannot see; what another model saw on it stands between the marks"
        return f"[{lead}]\n<{self._mark}>\n{_harmless(description.text)}\n</{self._mark}>", cost

    async def _look(self, image: Image, describer: Describer) -> tuple[Description, Usage | None]:
        async with self._looking:  # two answers at once must not pay for the same picture twice
            known = self._known.get(image.blob)
            if known is not None:
                self._known.move_to_end(image.blob)
                return known, None
            description = await describer.describe(await self._blobs.load(image.blob), image.media_type)
            self._known[image.blob] = description
            if len(self._known) > _MOST_KEPT:
                self._known.popitem(last=False)
            return description, description.usage


class Seeing:
    """Implements `Model` over one that cannot see: its pictures come as words.

    What looking took is in the usage of the reply; where both prices are known its cost holds each at its own.
    """

    def __init__(self, model: Model, sight: Sight, ref: str = "") -> None:
        self._model = model
        self._sight = sight
        self._ref = ref

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """As the model."""
        looked: Usage | None = None
        messages: list[ModelMessage] = []
        for message in request.messages:
            if isinstance(message, UserMessage) and message.images:
                parts = [message.text] if message.text else []
                for image in message.images:
                    yield _BEAT  # who watches over the silence sees that it goes on
                    words, cost = await self._sight.tell(image)
                    parts.append(words)
                    looked = cost if looked is None else looked + (cost or Usage())
                message = UserMessage("\n\n".join(parts))
            messages.append(message)
        asked = replace(request, messages=tuple(messages))
        async with aclosing(cast("AsyncGenerator[ModelEvent]", self._model.stream(asked))) as events:
            async for event in events:
                yield self._with_looking(event, looked) if isinstance(event, ModelReply) and looked else event

    def _with_looking(self, reply: ModelReply, looked: Usage) -> ModelReply:
        usage = looked if reply.usage is None else reply.usage + looked
        return replace(reply, usage=usage, cost=self._cost(reply, looked))

    def _cost(self, reply: ModelReply, looked: Usage) -> int | None:
        prices = self._sight.prices
        sight = prices.find_price(self._sight.ref) if prices is not None else None
        own = prices.find_price(self._ref) if prices is not None else None
        if sight is None:
            return reply.cost
        if reply.cost is not None:
            return reply.cost + sight.cost(looked)
        return None if own is None or reply.usage is None else own.cost(reply.usage) + sight.cost(looked)


def _harmless(words: str) -> str:
    """The words without anything that could pass for a mark around untrusted text."""
    return words.replace("<", "&lt;").replace(">", "&gt;")
