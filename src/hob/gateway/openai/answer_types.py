"""Response types of the OpenAI-compatible API."""

from typing import Any, NotRequired, TypedDict


class OpenAIErrorBody(TypedDict):
    """What went wrong, in OpenAI's form.

    message: for people
    type: the kind of error, by status
    param: the invalid field, if any
    code: for programs
    """

    message: str
    type: str
    param: str | None
    code: str


class OpenAIFailed(TypedDict):
    """An error, in OpenAI's form."""

    error: OpenAIErrorBody


class Completion(TypedDict):
    """An answer, in OpenAI's form.

    model: as requested
    choices: one: `message.content` is the answer
    usage: tokens of all model calls of the turn
    hob: `id`, `session`, `trace_id`, `state`, `notes`; `question` and `approvals`
    """

    id: str
    object: str
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, Any]
    hob: dict[str, Any]


class ResponseAnswer(TypedDict):
    """A response, in OpenAI's form.

    model: as requested; `hob` if it is looked up later
    output: one message; none before there is an answer
    usage: tokens of all model calls of the turn
    error: only if it failed
    hob: the same as of a completion
    """

    id: str
    object: str
    created_at: int
    status: str
    model: str
    output: list[dict[str, Any]]
    usage: dict[str, Any] | None
    error: dict[str, Any] | None
    hob: NotRequired[dict[str, Any]]


class ModelAnswer(TypedDict):
    """A model that a request may name."""

    id: str
    object: str
    created: int
    owned_by: str


class OpenAIModelsAnswer(TypedDict):
    """Models that a request may name."""

    object: str
    data: list[ModelAnswer]


class EmbeddingAnswer(TypedDict):
    """Vectors, in the order of the texts.

    data: `embedding` is a list of numbers, or base64 of little-endian float32
    """

    object: str
    data: list[dict[str, Any]]
    model: str
    usage: dict[str, Any]
