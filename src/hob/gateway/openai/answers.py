"""What the endpoints here answer, for the reference and the OpenAPI file. The formats are OpenAI's."""

from typing import Annotated, Any, NotRequired, TypedDict


class OpenAIErrorBody(TypedDict):
    """What went wrong, as OpenAI tells it."""

    message: Annotated[str, "for people"]
    type: Annotated[str, "what kind of error, by the status"]
    param: Annotated[str | None, "the field that is wrong, where it is one"]
    code: Annotated[str, "for programs"]


class OpenAIFailed(TypedDict):
    """An error, as OpenAI tells it."""

    error: OpenAIErrorBody


class Completion(TypedDict):
    """An answer, in OpenAI's form."""

    id: str
    object: str
    created: int
    model: Annotated[str, "as it was asked for"]
    choices: Annotated[list[dict[str, Any]], "one: `message.content` is the answer"]
    usage: Annotated[dict[str, Any], "tokens of all that the turn asked its models"]
    hob: Annotated[dict[str, Any], "`id`, `session`, `trace_id`, `state`, `notes`; `question` and `approvals`"]


class ResponseAnswer(TypedDict):
    """A response, in OpenAI's form."""

    id: str
    object: str
    created_at: int
    status: str
    model: Annotated[str, "as it was asked for; `hob` where it is looked up later"]
    output: Annotated[list[dict[str, Any]], "one message; none before there is an answer"]
    usage: Annotated[dict[str, Any] | None, "tokens of all that the turn asked its models"]
    error: Annotated[dict[str, Any] | None, "only where it failed"]
    hob: NotRequired[Annotated[dict[str, Any], "the same as of a completion"]]


class ModelAnswer(TypedDict):
    """A model that a request may name."""

    id: str
    object: str
    created: int
    owned_by: str


class ModelsAnswer(TypedDict):
    """Models that a request may name."""

    object: str
    data: list[ModelAnswer]


class EmbeddingAnswer(TypedDict):
    """Vectors, in the order of the texts."""

    object: str
    data: Annotated[list[dict[str, Any]], "`embedding` is a list of numbers, or base64 of little-endian float32"]
    model: str
    usage: dict[str, Any]
