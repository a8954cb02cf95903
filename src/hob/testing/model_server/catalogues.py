"""Model lists in each vendor's format."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import unquote

from hob.testing.model_server.hypertext import HttpRequest
from hob.testing.model_server.wire import Cause, WireRefusal, WireRefused

CONTEXT = 32_768
_OUTPUT = 8192
_CREATED = 1_767_225_600
_CREATED_TEXT = "2026-01-01T00:00:00Z"


def find_listing(http_request: HttpRequest, path: str, models: Sequence[str]) -> object | None:
    """Return the listing at this path; None if there is no such path. Raises WireRefused."""
    if http_request.method != "GET":
        return None
    match path:
        case "/v1/models":
            return _anthropic_page(models) if is_anthropic(http_request) else _openai_page(models)
        case "/v1beta/models":
            return {"models": [_gemini(name) for name in models]}
        case "/api/tags":
            return {"models": [_ollama(name) for name in models]}
        case "/api/ps":
            return {"models": []}
        case "/api/version":
            return {"version": "0.40.12"}
    prefix = next((prefix for prefix in ("/v1/models/", "/v1beta/models/") if path.startswith(prefix)), None)
    if prefix is None:
        return None
    name = check_listed(unquote(path.removeprefix(prefix)), models)
    if prefix == "/v1beta/models/":
        return _gemini(name)
    return _anthropic(name) if is_anthropic(http_request) else _openai(name)


def check_listed(name: str, models: Sequence[str]) -> str:
    """Return the name if there is such a model. Raises WireRefused."""
    if name.removesuffix(":latest") not in models:
        raise WireRefused(WireRefusal(Cause.NO_MODEL, f"The model '{name}' does not exist.", code="model_not_found"))
    return name.removesuffix(":latest")


def is_anthropic(http_request: HttpRequest) -> bool:
    """Whether the request to a path shared with OpenAI is from an Anthropic client."""
    return "anthropic-version" in http_request.headers or "x-api-key" in http_request.headers


def _openai_page(models: Sequence[str]) -> Mapping[str, Any]:
    return {"object": "list", "data": [_openai(name) for name in models]}


def _openai(name: str) -> Mapping[str, Any]:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "hob"}


def _anthropic_page(models: Sequence[str]) -> Mapping[str, Any]:
    """Return the listing: https://platform.claude.com/docs/en/api/models-list"""
    ends = {"first_id": models[0] if models else None, "last_id": models[-1] if models else None}
    return {"data": [_anthropic(name) for name in models], "has_more": False, **ends}


def _anthropic(name: str) -> Mapping[str, Any]:
    return {
        "type": "model",
        "id": name,
        "display_name": name.replace("-", " ").title(),
        "created_at": _CREATED_TEXT,
        "lifecycle": "active",
        "max_input_tokens": CONTEXT,
        "max_tokens": _OUTPUT,
    }


def _gemini(name: str) -> Mapping[str, Any]:
    """Return a listed model: https://ai.google.dev/api/models"""
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "description": "A model that is none.",
        "inputTokenLimit": CONTEXT,
        "outputTokenLimit": _OUTPUT,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        "temperature": 1,
        "topP": 0.95,
        "topK": 64,
        "maxTemperature": 2,
        "thinking": True,
    }


def _ollama(name: str) -> Mapping[str, Any]:
    """Return a listed model: https://docs.ollama.com/api/tags"""
    tagged = name if ":" in name else f"{name}:latest"
    return {
        "name": tagged,
        "model": tagged,
        "modified_at": _CREATED_TEXT,
        "size": 2_019_393_189,
        "digest": sha256(name.encode()).hexdigest(),
        "details": _DETAILS,
    }


def show_ollama(name: str, capabilities: Sequence[str]) -> Mapping[str, Any]:
    """Return the details of a model: https://docs.ollama.com/api-reference/show-model-details"""
    return {
        "license": "none",
        "modelfile": f"FROM {name}",
        "parameters": "num_ctx 4096",
        "template": "{{ .Prompt }}",
        "details": _DETAILS,
        "model_info": {
            "general.architecture": "llama",
            "general.parameter_count": 3_212_749_888,
            "llama.context_length": CONTEXT,
            "llama.embedding_length": 3072,
        },
        "capabilities": ["embedding"] if "embed" in name else list(capabilities),
        "modified_at": _CREATED_TEXT,
    }


_DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "llama",
    "families": ["llama"],
    "parameter_size": "3.2B",
    "quantization_level": "Q4_K_M",
}
