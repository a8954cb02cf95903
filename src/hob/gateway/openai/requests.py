"""Request types of the OpenAI-compatible API: each parameter is used, ignored or refused.

Parameters that only tune a model are ignored, since Hob's settings decide that. Parameters that would change the answer
in ways Hob does not support are refused by name; nothing is dropped silently.
"""

from typing import Any

from hob.core.values import dataclass
from hob.gateway.http.fields import field

_TUNING = "passed over: Hob asks its models by its own settings"
_NOTING = "passed over"
_TOOLS = "send `tools` and `tool_choice` instead"
_THEIRS = "functions that the program performs: the answer asks for them, and the next request brings their results"
_CHOICE = "`none`, `auto`, `required`, or the function to call first"
_FORM = "`text`, `json_object`, or `json_schema`: checked, and asked for again where the model misses it"
_ONE = "there is one answer to a request; leave it out, or ask again for another one"
_SPOKEN = "only text is answered; leave it out"
_PROBABILITIES = "probabilities are not told; leave it out"
_RULES = "Hob has its own rules of what comes in and goes out; leave it out"
_CONVERSATION = "a conversation goes on by the header X-Hob-Session, or by `user`; leave this out"


def _session(what: str) -> str:
    return f"{what}; with it or `X-Hob-Session` the conversation is Hob's to remember"


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How an answer is streamed."""

    include_usage: bool = field("a last chunk tells the tokens", False)
    include_obfuscation: bool = field(_NOTING, False)


@dataclass(frozen=True, slots=True)
class ChatCompletionRequest:
    """A conversation whose last message is to be answered."""

    messages: tuple[dict[str, Any], ...] = field(
        "the conversation, the message to answer last; in a remembered one all others are passed over"
    )
    model: str = field("`hob`, or one of `GET /v1/models`", "hob", characters=(1, 300))
    stream: bool = field("whether the answer is sent while it grows", False)
    stream_options: StreamOptions | None = field("only with `stream`", None)
    user: str | None = field(_session("whose conversation it is"), None, characters=(1, 200))
    max_tokens: int | None = field(_TUNING, None)
    max_completion_tokens: int | None = field(_TUNING, None)
    temperature: float | None = field(_TUNING, None)
    top_p: float | None = field(_TUNING, None)
    frequency_penalty: float | None = field(_TUNING, None)
    presence_penalty: float | None = field(_TUNING, None)
    seed: int | None = field(_TUNING, None)
    reasoning_effort: str | None = field(_TUNING, None)
    verbosity: str | None = field(_TUNING, None)
    service_tier: str | None = field(_NOTING, None)
    store: bool | None = field(_NOTING, None)
    metadata: Any = field(_NOTING, None)
    parallel_tool_calls: bool | None = field(_NOTING, None)
    prompt_cache_key: str | None = field(_NOTING, None)
    prompt_cache_options: Any = field(_NOTING, None)
    prompt_cache_retention: str | None = field(_NOTING, None)
    safety_identifier: str | None = field(_NOTING, None)
    n: Any = field("refused, unless it is 1", None, only=(1,), why=_ONE)
    stop: Any = field("a text, or up to four: the answer ends before the first of them", None)
    tools: Any = field(_THEIRS, None)
    tool_choice: Any = field(_CHOICE, None)
    functions: Any = field("refused, unless it is empty", None, only=([],), why=_TOOLS)
    function_call: Any = field("refused, unless it is `none` or `auto`", None, only=("none", "auto"), why=_TOOLS)
    response_format: Any = field(_FORM, None)
    modalities: Any = field("refused, unless it is text", None, only=(["text"],), why=_SPOKEN)
    audio: Any = field("refused", None, only=(), why=_SPOKEN)
    logprobs: Any = field("refused, unless it is false", None, only=(False,), why=_PROBABILITIES)
    top_logprobs: Any = field("refused, unless it is 0", None, only=(0,), why=_PROBABILITIES)
    logit_bias: Any = field(
        "refused, unless it is empty", None, only=({},), why="single tokens cannot be steered; leave it out"
    )
    prediction: Any = field("refused", None, only=(), why="a predicted answer is not looked at; leave it out")
    moderation: Any = field("refused", None, only=(), why=_RULES)
    web_search_options: Any = field(
        "refused", None, only=(), why="Hob searches with its own tools where that helps; leave it out"
    )


@dataclass(frozen=True, slots=True)
class TextOptions:
    """The form of an answer."""

    format: Any = field(_FORM, None)
    verbosity: Any = field(_NOTING, None)


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """The request to answer: a text, or a conversation."""

    input: str | list[dict[str, Any]] = field("a text, or messages, the one to answer last")
    instructions: str | None = field("how to answer; untrusted, as all that a program says for somebody else", None)
    model: str = field("`hob`, or one of `GET /v1/models`", "hob", characters=(1, 300))
    stream: bool = field("whether the answer is sent while it grows", False)
    stream_options: StreamOptions | None = field(_NOTING, None)
    user: str | None = field(_session("whose conversation it is"), None, characters=(1, 200))
    max_output_tokens: int | None = field(_TUNING, None)
    temperature: float | None = field(_TUNING, None)
    top_p: float | None = field(_TUNING, None)
    reasoning: Any = field(_TUNING, None)
    truncation: str | None = field(_TUNING, None)
    service_tier: str | None = field(_NOTING, None)
    store: bool | None = field(_NOTING, None)
    metadata: Any = field(_NOTING, None)
    include: Any = field(_NOTING, None)
    access_programs: Any = field(_NOTING, None)
    parallel_tool_calls: bool | None = field(_NOTING, None)
    prompt_cache_key: str | None = field(_NOTING, None)
    prompt_cache_options: Any = field(_NOTING, None)
    prompt_cache_retention: str | None = field(_NOTING, None)
    safety_identifier: str | None = field(_NOTING, None)
    text: TextOptions | None = field("the form of the answer", None)
    background: Any = field(
        "refused, unless it is false",
        None,
        only=(False,),
        why="wait for the answer, or use POST /chat with `wait`; leave it out",
    )
    conversation: Any = field("refused", None, only=(), why=_CONVERSATION)
    previous_response_id: str | None = field("only with results of tools, whose calls tell it anyway", None)
    prompt: Any = field("refused", None, only=(), why="there are no stored prompts here; send the text itself")
    tools: Any = field(_THEIRS, None)
    tool_choice: Any = field(_CHOICE, None)
    max_tool_calls: Any = field("refused", None, only=(), why=_TOOLS)
    top_logprobs: Any = field("refused, unless it is 0", None, only=(0,), why=_PROBABILITIES)
    context_management: Any = field(
        "refused", None, only=(), why="Hob keeps a conversation within its bounds by itself; leave it out"
    )
    moderation: Any = field("refused", None, only=(), why=_RULES)


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts to be turned into vectors."""

    input: str | list[str] = field("a text, or a list of 1 to 2048 texts")
    model: str = field("`hob`, or the model that `model.embedding` names", "hob", characters=(1, 300))
    encoding_format: str = field("how a vector is written", "float", one_of=("float", "base64"))
    dimensions: int | None = field("refused, unless vectors have this length anyway", None, at_least=1)
    user: str | None = field(_NOTING, None)
