"""The routes for OpenAI's clients; handlers are loaded with the first request."""

from dataclasses import replace
from typing import Any

from starlette.responses import Response

from hob.core.content.file_limits import LARGEST_FILE
from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.endpoint import EVENTS, JSON, Endpoint, EndpointCall
from hob.gateway.http.failures import BUSY
from hob.gateway.http.fields import Nothing
from hob.gateway.http.reply import JsonResponse
from hob.gateway.openai.answer_types import Completion, EmbeddingAnswer, ModelAnswer, OpenAIModelsAnswer, ResponseAnswer
from hob.gateway.openai.errors import FAULT_STATUSES, openai_response
from hob.gateway.openai.requests import ChatCompletionRequest, EmbeddingRequest, ResponseRequest

_ACCEPTING = (*BUSY, "context_length_exceeded", "key_reused", "not_allowed", "model_not_found", "stopping")
_HEADERS = (
    (
        "Idempotency-Key",
        "1 to 255 characters; the same key again, at any time, joins the same request; with another text it is refused",
    ),
    ("X-Hob-Session", "the conversation that Hob remembers: its name, or for the owner a whole key"),
    (
        "X-Stainless-Retry-Count",
        "how often OpenAI's clients have repeated it; from 1 on the first is joined",
    ),
    ("X-Stainless-Read-Timeout", "the seconds that they wait for an answer"),
)


async def _complete(call: EndpointCall[ChatCompletionRequest]) -> JsonResponse[Completion] | Response:
    """Answer the last message of a conversation, as OpenAI's chat completions do.

    Every request is a separate conversation unless `X-Hob-Session` or `user` names one that Hob remembers. A turn that
    waits for approval is answered with 202 and the question; `X-Hob-Approval` has the ids, `Location` the address to
    poll.
    """
    from hob.gateway.openai import completions

    return await completions.post(call)


async def _respond(call: EndpointCall[ResponseRequest]) -> JsonResponse[ResponseAnswer] | Response:
    """Answer a text, or the last message of a conversation, as OpenAI's responses do.

    `instructions` and everything before the last message count as text of unknown authors. A conversation is remembered
    only if `X-Hob-Session` or `user` names it. The id works with `GET /v1/responses/{id}`.
    """
    from hob.gateway.openai import responses

    return await responses.post(call)


async def _find_response(call: EndpointCall[Nothing]) -> JsonResponse[ResponseAnswer] | Response:
    """Return the state of a response: `in_progress`, `completed`, `incomplete`, `failed` or `cancelled`.

    A response that waits for people is answered with 202, as `incomplete`, with the questions.
    """
    from hob.gateway.openai import responses

    return await responses.get(call)


async def _cancel_response(call: EndpointCall[Nothing]) -> JsonResponse[ResponseAnswer] | Response:
    """Cancel the work on a response unless it is finished, and return its state."""
    from hob.gateway.openai import responses

    return await responses.cancel(call)


async def _embed(call: EndpointCall[EmbeddingRequest]) -> JsonResponse[EmbeddingAnswer] | Response:
    """Embed texts as vectors of unit length, with the model that `model.embedding` names."""
    from hob.gateway.openai import embeddings

    return await embeddings.post(call)


async def _list_models(call: EndpointCall[Nothing]) -> JsonResponse[OpenAIModelsAnswer] | Response:
    """List the models that a request may name: `hob` (Hob chooses one), and for the owner the configured ones."""
    from hob.gateway.openai import models

    return await models.list_(call)


async def _find_model(call: EndpointCall[Nothing]) -> JsonResponse[ModelAnswer] | Response:
    """Return one model that a request may name."""
    from hob.gateway.openai import models

    return await models.get(call)


_ROUTES: tuple[Endpoint[Any], ...] = (
    Endpoint(
        "POST",
        "/v1/chat/completions",
        _complete,
        TokenScope.CHAT,
        ChatCompletionRequest,
        errors=_ACCEPTING,
        failures=FAULT_STATUSES,
        media=(JSON, EVENTS),
        headers=_HEADERS,
        statuses=(200, 202),
        max_bytes=LARGEST_FILE,
    ),
    Endpoint(
        "POST",
        "/v1/responses",
        _respond,
        TokenScope.CHAT,
        ResponseRequest,
        errors=_ACCEPTING,
        failures=FAULT_STATUSES,
        media=(JSON, EVENTS),
        headers=_HEADERS,
        statuses=(200, 202),
        max_bytes=LARGEST_FILE,
    ),
    Endpoint(
        "GET",
        "/v1/responses/{id}",
        _find_response,
        TokenScope.CHAT,
        Nothing,
        statuses=(200, 202),
        errors=("not_found",),
    ),
    Endpoint(
        "POST",
        "/v1/responses/{id}/cancel",
        _cancel_response,
        TokenScope.CHAT,
        Nothing,
        statuses=(200, 202),
        errors=("not_found",),
    ),
    Endpoint(
        "POST",
        "/v1/embeddings",
        _embed,
        TokenScope.CHAT,
        EmbeddingRequest,
        errors=("model_not_found",),
        failures=FAULT_STATUSES,
        max_bytes=LARGEST_FILE,
    ),
    Endpoint("GET", "/v1/models", _list_models, TokenScope.CHAT, Nothing),
    Endpoint(
        "GET",
        "/v1/models/{id:path}",
        _find_model,
        TokenScope.CHAT,
        Nothing,
        errors=("model_not_found", "not_allowed"),
    ),
)
ENDPOINTS = tuple(replace(route, failing=openai_response) for route in _ROUTES)
