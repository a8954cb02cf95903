"""Fallback forms of requests for servers without tools, thinking or vision.

The features of a self-hosted server are not known in advance. The first request that is refused for a missing one is
repeated in the other form, which is used directly from then on.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from hob.core.errors import ModelError
from hob.core.models import KeepAlive, ModelEvent, ModelRequest, UserMessage
from hob.core.ports.model import Model

# messages of Ollama, vLLM, llama.cpp and OpenRouter
_NO_TOOLS = re.compile(
    r"(?:not|n't) support (?:tools?|functions?)\b|tool choice requires|tools param requires|support tool use",
    re.IGNORECASE,
)
_NO_IMAGES = re.compile(
    r"(?:not|n't) support (?:\w+ )?(?:images?|vision|multimodal)|support image input|not a multimodal model"
    r"|image input is not supported|missing data required for image|at most 0 image",
    re.IGNORECASE,
)

_NO_THINKING = re.compile(
    r"(?:not|n't) support (?:thinking|reasoning|(?:the )?parameter:? .?reasoning)"
    r"|(?:unrecognized|unknown|unsupported)\b.{0,60}(?:reasoning|thinking)",
    re.IGNORECASE,
)


class AdaptingModel:
    """Implements `Model` with `model`, switching permanently to `other` once an error matches `lacks`."""

    def __init__(
        self, model: Model, other: Callable[[Model], Model], lacks: Callable[[ModelRequest, ModelError], bool]
    ) -> None:
        self._model = model
        self._make_other = other
        self._lacks = lacks
        self._other: Model | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Yield the answer of the model that accepts the request. Raises ModelError."""
        if self._other is None:
            begun = False
            try:
                async with aclosing(cast("AsyncGenerator[ModelEvent]", self._model.stream(request))) as events:
                    async for event in events:
                        begun = begun or type(event) is not KeepAlive
                        yield event
                return
            except ModelError as error:
                if begun or not self._lacks(request, error):
                    raise
            self._other = self._make_other(self._model)
        async with aclosing(cast("AsyncGenerator[ModelEvent]", self._other.stream(request))) as events:
            async for event in events:
                yield event


def lacks_tools(request: ModelRequest, error: ModelError) -> bool:
    """Whether the request was refused because the server does not support tools."""
    return bool(request.tools) and _NO_TOOLS.search(str(error)) is not None


def lacks_vision(request: ModelRequest, error: ModelError) -> bool:
    """Whether the request was refused because the model does not support images."""
    return has_images(request) and _NO_IMAGES.search(str(error)) is not None


def lacks_thinking(request: ModelRequest, error: ModelError) -> bool:
    """Whether the request was refused because the model has no thinking levels."""
    return request.thinking is not None and _NO_THINKING.search(str(error)) is not None


class ChangedRequests:
    """Implements `Model` with these fields of every request changed."""

    def __init__(self, model: Model, /, **changes: Any) -> None:
        self._model = model
        self._changes = changes

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the model's answer."""
        return self._model.stream(replace(request, **self._changes))


def without_thinking(model: Model) -> Model:
    """Return the model without a thinking level in its requests."""
    return ChangedRequests(model, thinking=None)


def has_images(request: ModelRequest) -> bool:
    """Whether the request contains an image."""
    return any(isinstance(message, UserMessage) and message.images for message in request.messages)
