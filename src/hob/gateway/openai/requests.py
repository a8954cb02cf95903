"""What OpenAI's clients ask, field by field: heeded, accepted and passed over, or refused.

What only tunes a model is passed over, since Hob's own settings say how its models are asked. What would make the
answer another thing is refused with the field's name; nothing that was asked for is left out in silence.
"""

from dataclasses import dataclass
from typing import Any

from hob.gateway.http.fields import field
from hob.gateway.openai.errors import wrong

_TUNING = "passed over: Hob asks its models by its own settings"
_NOTING = "passed over"
_TOOLS = "Hob works with its own tools and cannot call the caller's; leave it out"
_FORMAT = "only plain text is answered; ask for the form you want in the message"
_ONE = "there is one answer to a request; leave it out, or ask again for another one"
_SPOKEN = "only text is answered; leave it out"
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
    n: Any = field("refused, unless it is 1", None)
    stop: Any = field("refused, unless it is empty", None)
    tools: Any = field("refused, unless it is empty", None)
    tool_choice: Any = field("refused, unless it is `none` or `auto`", None)
    functions: Any = field("refused, unless it is empty", None)
    function_call: Any = field("refused, unless it is `none` or `auto`", None)
    response_format: Any = field("refused, unless it is text", None)
    modalities: Any = field("refused, unless it is text", None)
    audio: Any = field("refused", None)
    logprobs: Any = field("refused, unless it is false", None)
    top_logprobs: Any = field("refused, unless it is 0", None)
    logit_bias: Any = field("refused, unless it is empty", None)
    prediction: Any = field("refused", None)
    moderation: Any = field("refused", None)
    web_search_options: Any = field("refused", None)


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """What is to be answered: a text, or a conversation."""

    input: Any = field("a text, or messages, the one to answer last")
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
    text: Any = field("refused, unless its format is text", None)
    background: Any = field("refused, unless it is false", None)
    conversation: Any = field("refused", None)
    previous_response_id: Any = field("refused", None)
    prompt: Any = field("refused", None)
    tools: Any = field("refused, unless it is empty", None)
    tool_choice: Any = field("refused, unless it is `none` or `auto`", None)
    max_tool_calls: Any = field("refused", None)
    top_logprobs: Any = field("refused, unless it is 0", None)
    context_management: Any = field("refused", None)
    moderation: Any = field("refused", None)


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts to be turned into vectors."""

    input: Any = field("a text, or a list of 1 to 2048 texts")
    model: str = field("`hob`, or the model that `model.embedding` names", "hob", characters=(1, 300))
    encoding_format: str = field("how a vector is written", "float", one_of=("float", "base64"))
    dimensions: int | None = field("refused, unless vectors have this length anyway", None, at_least=1)
    user: str | None = field(_NOTING, None)


_REFUSED: dict[str, tuple[tuple[Any, ...], str]] = {
    "n": ((1,), _ONE),
    "stop": (([], ""), "an answer cannot be cut at a word; leave it out"),
    "tools": (([],), _TOOLS),
    "tool_choice": (("none", "auto"), _TOOLS),
    "functions": (([],), _TOOLS),
    "function_call": (("none", "auto"), _TOOLS),
    "max_tool_calls": ((), _TOOLS),
    "web_search_options": ((), "Hob searches with its own tools where that helps; leave it out"),
    "response_format": (({"type": "text"},), _FORMAT),
    "text": (({}, {"format": {"type": "text"}}), _FORMAT),
    "modalities": ((["text"],), _SPOKEN),
    "audio": ((), _SPOKEN),
    "logprobs": ((False,), "probabilities are not told; leave it out"),
    "top_logprobs": ((0,), "probabilities are not told; leave it out"),
    "logit_bias": (({},), "single tokens cannot be steered; leave it out"),
    "prediction": ((), "a predicted answer is not looked at; leave it out"),
    "moderation": ((), "Hob has its own rules of what comes in and goes out; leave it out"),
    "background": ((False,), "wait for the answer, or use POST /chat with `wait`; leave it out"),
    "conversation": ((), _CONVERSATION),
    "previous_response_id": ((), _CONVERSATION),
    "prompt": ((), "there are no stored prompts here; send the text itself"),
    "context_management": ((), "Hob keeps a conversation within its bounds by itself; leave it out"),
}
"""The values besides null that change nothing, and why all others are refused."""


def check_supported(asked: ChatCompletionRequest | ResponseRequest) -> None:
    """Raises Refusal for what would make the answer another thing."""
    for name, (harmless, why) in _REFUSED.items():
        value = getattr(asked, name, None)
        if name == "text" and isinstance(value, dict):
            value = {key: each for key, each in value.items() if key != "verbosity"}
        if value is not None and value not in harmless:
            raise wrong(name, why)
