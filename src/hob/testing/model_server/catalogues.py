"""The models a server has, in each vendor's words."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from hob.testing.model_server.hypertext import Asked

CONTEXT = 32_768


def find(asked: Asked, path: str, models: Sequence[str]) -> object | None:
    """What is listed at this path; None if there is no such path."""
    match asked.method, path:
        case "GET", "/v1/models" if _is_anthropic(asked):
            rows = [_anthropic(name) for name in models]
            ends = {"first_id": models[0] if models else None, "last_id": models[-1] if models else None}
            return {"data": rows, "has_more": False, **ends}
        case "GET", "/v1/models":
            return {"object": "list", "data": [_openai(name) for name in models]}
        case "GET", "/v1beta/models":
            return {"models": [_gemini(name) for name in models]}
        case "GET", "/api/tags":
            return {"models": [_ollama(name) for name in models]}
        case "GET", "/api/version":
            return {"version": "0.40.12"}
        case _:
            return None


def _is_anthropic(asked: Asked) -> bool:
    return "anthropic-version" in asked.headers or "x-api-key" in asked.headers


def _openai(name: str) -> Mapping[str, Any]:
    return {"id": name, "object": "model", "created": 1_700_000_000, "owned_by": "hob"}


def _anthropic(name: str) -> Mapping[str, Any]:
    return {
        "type": "model",
        "id": name,
        "display_name": name.replace("-", " ").title(),
        "created_at": "2026-01-01T00:00:00Z",
        "max_input_tokens": CONTEXT,
        "max_tokens": 8192,
        "lifecycle": "active",
    }


def _gemini(name: str) -> Mapping[str, Any]:
    return {
        "name": f"models/{name}",
        "version": "001",
        "displayName": name,
        "description": "A model that is none.",
        "inputTokenLimit": CONTEXT,
        "outputTokenLimit": 8192,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        "temperature": 1,
        "topP": 0.95,
        "topK": 64,
        "maxTemperature": 2,
        "thinking": True,
    }


def _ollama(name: str) -> Mapping[str, Any]:
    tagged = name if ":" in name else f"{name}:latest"
    return {
        "name": tagged,
        "model": tagged,
        "modified_at": "2026-01-01T00:00:00.123456789Z",
        "size": 2_019_393_189,
        "digest": sha256(name.encode()).hexdigest(),
        "details": DETAILS,
    }


DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "llama",
    "families": ["llama"],
    "parameter_size": "3.2B",
    "quantization_level": "Q4_K_M",
}
