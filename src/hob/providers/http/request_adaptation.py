"""Requests in another form, for servers that turn out to lack something: tools, thinking, sight.

No one can say beforehand what a server of one's own was set up with. The first request that is refused for it tells,
and is made again in the other form; from then on that form is used at once.
"""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from hob.core.errors import ModelError
from hob.core.models import Beat, ModelEvent, ModelRequest, UserMessage
from hob.core.ports.model import Model

# Ollama, vLLM, llama.cpp and OpenRouter, each in its own words
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
    """Implements `Model` by asking `model`, and `other` from the first time that `model` refused what `lacks` names."""

    def __init__(
        self, model: Model, other: Callable[[Model], Model], lacks: Callable[[ModelRequest, ModelError], bool]
    ) -> None:
        self._model = model
        self._make_other = other
        self._lacks = lacks
        self._other: Model | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """As the model that can take the request. Raises ModelError."""
        if self._other is None:
            begun = False
            try:
                async with aclosing(cast("AsyncGenerator[ModelEvent]", self._model.stream(request))) as events:
                    async for event in events:
                        begun = begun or type(event) is not Beat
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
    """Whether the request was refused because the server takes no tools."""
    return bool(request.tools) and _NO_TOOLS.search(str(error)) is not None


def lacks_vision(request: ModelRequest, error: ModelError) -> bool:
    """Whether the request was refused because the model sees no pictures."""
    return has_images(request) and _NO_IMAGES.search(str(error)) is not None


def lacks_thinking(request: ModelRequest, error: ModelError) -> bool:
    """Whether the request was refused because the model cannot be told how long to think."""
    return request.thinking is not None and _NO_THINKING.search(str(error)) is not None


class ChangedRequests:
    """Implements `Model` by asking `model` with these fields of every request changed."""

    def __init__(self, model: Model, /, **changes: Any) -> None:
        self._model = model
        self._changes = changes

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """As the model."""
        return self._model.stream(replace(request, **self._changes))


def without_thinking(model: Model) -> Model:
    """The model, told nothing about thinking."""
    return ChangedRequests(model, thinking=None)


def has_images(request: ModelRequest) -> bool:
    """Whether there is a picture in the request."""
    return any(isinstance(message, UserMessage) and message.images for message in request.messages)
