"""The routes that OpenAI's clients call."""

from dataclasses import replace
from typing import Any

from hob.gateway.auth.callers import TokenScope
from hob.gateway.http.endpoint import EVENTS, JSON, Endpoint
from hob.gateway.http.failures import BUSY
from hob.gateway.http.fields import Nothing
from hob.gateway.openai import completions, embeddings, models, responses
from hob.gateway.openai.errors import FAULT_STATUSES, openai_response
from hob.gateway.openai.requests import ChatCompletionRequest, EmbeddingRequest, ResponseRequest
from hob.gateway.routes.attachments import MOST_BYTES

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

_ROUTES: tuple[Endpoint[Any], ...] = (
    Endpoint(
        "POST",
        "/v1/chat/completions",
        completions.post,
        TokenScope.CHAT,
        ChatCompletionRequest,
        errors=_ACCEPTING,
        failures=FAULT_STATUSES,
        media=(JSON, EVENTS),
        headers=_HEADERS,
        most_bytes=MOST_BYTES,
    ),
    Endpoint(
        "POST",
        "/v1/responses",
        responses.post,
        TokenScope.CHAT,
        ResponseRequest,
        errors=_ACCEPTING,
        failures=FAULT_STATUSES,
        media=(JSON, EVENTS),
        headers=_HEADERS,
        most_bytes=MOST_BYTES,
    ),
    Endpoint(
        "GET",
        "/v1/responses/{id}",
        responses.get,
        TokenScope.CHAT,
        Nothing,
        errors=("not_found",),
    ),
    Endpoint(
        "POST",
        "/v1/responses/{id}/cancel",
        responses.cancel,
        TokenScope.CHAT,
        Nothing,
        errors=("not_found",),
    ),
    Endpoint(
        "POST",
        "/v1/embeddings",
        embeddings.post,
        TokenScope.CHAT,
        EmbeddingRequest,
        errors=("model_not_found",),
        failures=FAULT_STATUSES,
        most_bytes=MOST_BYTES,
    ),
    Endpoint("GET", "/v1/models", models.list_, TokenScope.CHAT, Nothing),
    Endpoint(
        "GET",
        "/v1/models/{id:path}",
        models.get,
        TokenScope.CHAT,
        Nothing,
        errors=("model_not_found", "not_allowed"),
    ),
)
ENDPOINTS = tuple(replace(route, failing=openai_response) for route in _ROUTES)
