"""A model that never receives a known secret and whose answers contain none."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from hob.core.errors import ModelError
from hob.core.model_names import ChecksModelNames, HasAliases
from hob.core.models import (
    AssistantMessage,
    ModelEvent,
    ModelMessage,
    ModelReply,
    ModelRequest,
    ReasoningDelta,
    Route,
    TextDelta,
)
from hob.core.ports.model import HasDefaultModel, Model, RoutesRequests
from hob.core.tools import ToolCall
from hob.guard.screening.masking.known_secrets import KnownSecrets


class MaskedModel:
    """Implements `Model` around another one. Applied before journalling, display and hashing, so that all of them see
    the same text.
    """

    def __init__(self, model: Model, known: KnownSecrets) -> None:
        self._model = model
        self._known = known

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Stream the masked answer. Text that may begin a secret is held back until it is known not to."""
        text, reasoning = self._known.stream(), self._known.stream()
        # every model's stream is an async generator, and closing it ends the request
        stream = cast(AsyncGenerator[ModelEvent, None], self._model.stream(self._asked(request)))
        try:
            async with aclosing(stream) as events:
                async for event in events:
                    kind = type(event)
                    if kind is TextDelta or kind is ReasoningDelta:
                        piece = (text if kind is TextDelta else reasoning).feed(event.text)  # type: ignore[union-attr]
                        if piece:
                            yield event if piece == event.text else kind(piece)  # type: ignore[union-attr]
                    elif kind is ModelReply:
                        if rest := reasoning.finish():
                            yield ReasoningDelta(rest)
                        if rest := text.finish():
                            yield TextDelta(rest)
                        yield self._answered(cast(ModelReply, event))
                    else:
                        yield event
        except ModelError as error:  # a provider may quote the request
            error.args = (self._known(str(error)),)
            raise

    def _asked(self, request: ModelRequest) -> ModelRequest:
        known = self._known
        system, messages = known(request.system), tuple(map(self._said, request.messages))
        if system is request.system and all(new is old for new, old in zip(messages, request.messages, strict=True)):
            return request
        return replace(request, system=system, messages=messages)

    def _said(self, message: ModelMessage) -> ModelMessage:
        text = self._known(message.text)
        if isinstance(message, AssistantMessage) and message.calls:
            calls = self._calls(message.calls)
            if calls is not message.calls:
                return replace(message, text=text, calls=calls)
        return message if text is message.text else replace(message, text=text)

    def _answered(self, reply: ModelReply) -> ModelReply:
        known, sealed = self._known, reply.continuation
        if sealed is not None and known(sealed.data) is not sealed.data:
            sealed = None  # the provider would reject an altered one, so the turn continues without it
        return replace(
            reply,
            text=known(reply.text),
            reasoning=known(reply.reasoning),
            calls=self._calls(reply.calls),
            continuation=sealed,
        )

    def _calls(self, calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        if all(self._known(call.arguments) is call.arguments for call in calls):
            return calls
        return tuple(replace(call, arguments=self._known(call.arguments)) for call in calls)


class MaskedRouting(MaskedModel):
    """Also implements `RoutesRequests` and `HasDefaultModel`, around a model that does."""

    async def route(self, request: ModelRequest) -> Route:
        try:
            return await cast(RoutesRequests, self._model).route(request)
        except ModelError as error:
            error.args = (self._known(str(error)),)
            raise

    async def default_model(self) -> str:
        return await cast(HasDefaultModel, self._model).default_model()


class MaskedRouter(MaskedRouting):
    """Also implements `ChecksModelNames` and `HasAliases`, around a model that does."""

    async def check_ref(self, name: str) -> str | None:
        reason = await cast(ChecksModelNames, self._model).check_ref(name)
        return None if reason is None else self._known(reason)

    @property
    def aliases(self) -> Mapping[str, str]:
        return cast(HasAliases, self._model).aliases


def masked_model(model: Model, known: KnownSecrets) -> Model:
    """Wrap the model with masking; the wrapper supports the same protocols."""
    if not (isinstance(model, RoutesRequests) and isinstance(model, HasDefaultModel)):
        return MaskedModel(model, known)
    names = isinstance(model, ChecksModelNames) and isinstance(model, HasAliases)
    return (MaskedRouter if names else MaskedRouting)(model, known)
