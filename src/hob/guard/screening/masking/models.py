"""A model that never receives a known secret and whose answers contain none."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import cast

from hob.core.errors import ModelError
from hob.core.model_names import ChecksModelNames, HasAliases
from hob.core.models import (
    ModelEvent,
    ModelReply,
    ModelRequest,
    Route,
)
from hob.core.ports.model import HasDefaultModel, Model, RoutesRequests
from hob.core.tools import ToolCall
from hob.guard.screening.masking.known_secrets import KnownSecrets
from hob.guard.screening.model_texts import change_answer, change_message


class MaskedModel:
    """Implements `Model` around another one. Applied before journalling, display and hashing, so that all of them see
    the same text.
    """

    def __init__(self, model: Model, known: KnownSecrets) -> None:
        self._model = model
        self._known = known

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Stream the masked answer. Text that may begin a secret is held back until it is known not to."""
        answer = change_answer(self._model.stream(self._asked(request)), self._known.stream, self._answered)
        try:
            async with aclosing(answer) as events:
                async for event in events:
                    yield event
        except ModelError as error:  # a provider may quote the request
            error.args = (self._known(str(error)),)
            raise

    def _asked(self, request: ModelRequest) -> ModelRequest:
        known = self._known
        system = known(request.system)
        messages = tuple(change_message(message, known, self._masked) for message in request.messages)
        if system is request.system and all(new is old for new, old in zip(messages, request.messages, strict=True)):
            return request
        return replace(request, system=system, messages=messages)

    def _answered(self, reply: ModelReply) -> ModelReply:
        known, sealed = self._known, reply.continuation
        if sealed is not None and known(sealed.data) is not sealed.data:
            sealed = None  # the provider would reject an altered one, so the turn continues without it
        return replace(
            reply,
            text=known(reply.text),
            reasoning=known(reply.reasoning),
            calls=tuple(map(self._masked, reply.calls)),
            continuation=sealed,
        )

    def _masked(self, call: ToolCall) -> ToolCall:
        arguments = self._known(call.arguments)
        return call if arguments is call.arguments else replace(call, arguments=arguments)


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
