"""The answer of `POST /chat/completions`, streamed or whole.

Complete when a finish reason or `[DONE]` was seen. Servers leave out ids and indexes of calls, count them from zero
every time, send arguments whole or in pieces: all of that is understood.

Format: https://platform.openai.com/docs/api-reference/chat/streaming
"""

import json
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from hob.core.errors import ModelError, ModelFault
from hob.core.models import Continuation, Stop, Usage
from hob.providers.http import decoder as decoding
from hob.providers.http.answer import MOST_CALLS, Growing, GrowingCall
from hob.providers.http.decoder import count_of
from hob.providers.wires.openai_chat.encoding import WIRE

_STOPS: Mapping[str, Stop] = {
    "stop": Stop.END,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "tool_calls": Stop.TOOLS,
    "function_call": Stop.TOOLS,
    "content_filter": Stop.FILTER,
}
_GROWING = ("text", "summary", "data")


class Decoder(decoding.Decoder):
    """Decodes one answer."""

    def __init__(
        self,
        *,
        host: str = "the server",
        salt: str = "",
        taken: Collection[str] = (),
        secrets: tuple[str, ...] = (),
        returns_reasoning: bool = False,
    ) -> None:
        super().__init__(host=host, salt=salt, taken=taken, secrets=secrets)
        self._returns_reasoning = returns_reasoning
        self._details: list[Growing] = []
        self._slots: dict[int, GrowingCall] = {}
        self._finish = ""

    def _ended(self) -> Stop | None:
        if self._finish == "error":
            raise ModelError(ModelFault.OVERLOAD, f"{self._host} broke off the answer because of an error of its own")
        return _STOPS.get(self._finish, Stop.END) if self._finish else None

    def _complete(self, stop: Stop) -> None:
        if self._details:
            self._continue_with({"reasoning_details": [detail.whole() for detail in self._details]})
        elif self._returns_reasoning and self._answer.reasoning:
            self._continue_with({"reasoning_content": self._answer.reasoning})
        super()._complete(stop)

    def _continue_with(self, fields: Mapping[str, Any]) -> None:
        if self._answer.calls:  # without calls the turn ends, and nobody wants it back
            self._answer.continuation = Continuation(WIRE, json.dumps(fields, ensure_ascii=False))

    def _take_whole(self, answer: Any) -> bool:
        self._take(answer)
        return isinstance(answer, dict) and isinstance(answer.get("choices"), list)

    def _take_text(self, chunk: Any) -> bool:
        choice = chunk["choices"][0]
        delta = choice["delta"]
        text = delta["content"]
        plain = len(delta) == 1 and type(text) is str and text and not choice["index"]
        if not plain or choice.get("finish_reason") or chunk.get("usage"):
            return False
        self._answer.say(text)
        return True

    def _take_object(self, chunk: dict[str, Any]) -> None:
        error = chunk.get("error")
        if error:
            self._raise_error(error)
        if isinstance(chunk.get("model"), str) and chunk["model"]:
            self._answer.model = chunk["model"]
        usage = chunk.get("usage")
        if isinstance(usage, dict):
            self._answer.usage = read_usage(usage)
            self._answer.cost = read_cost(usage)
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            self._take_choice(choices[0])

    def _take_choice(self, choice: dict[str, Any]) -> None:
        if choice.get("index") not in (0, None):
            return
        error = choice.get("error")
        if error:
            self._raise_error(error)
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            delta = choice.get("message")
            if self._answer.begun:  # some servers end with the whole message once more
                delta = None
        if isinstance(delta, dict):
            self._take_delta(delta)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish = reason

    def _take_delta(self, delta: dict[str, Any]) -> None:
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str) and thought:
            self._answer.think(thought)
        for detail in _objects(delta.get("reasoning_details")):
            self._take_detail(detail)
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                self._answer.say(content)
        elif isinstance(content, list):
            self._take_parts(content)
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._answer.say(refusal)  # the model's own words, in a place of their own
        for fragment in _objects(delta.get("tool_calls")):
            self._take_fragment(fragment)
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._take_fragment({"index": 0, "function": legacy})

    def _take_parts(self, parts: list[Any]) -> None:
        for part in parts:
            if not isinstance(part, dict):
                continue
            if isinstance(part.get("text"), str):
                self._answer.say(part["text"])
            elif isinstance(part.get("thinking"), list):
                for thought in part["thinking"]:
                    if isinstance(thought, dict) and isinstance(thought.get("text"), str):
                        self._answer.think(thought["text"])

    def _take_detail(self, detail: dict[str, Any]) -> None:
        """A piece of signed or sealed reasoning (OpenRouter); pieces of one index and type make up one detail."""
        self._answer.keep_fields(detail)
        key = (detail.get("index"), detail.get("type"))
        for known in self._details[-1:]:
            if key == (known.get("index"), known.get("type")):
                for name, value in detail.items():
                    if name in _GROWING and isinstance(value, str):
                        known.grow(name, value)
                    elif value is not None:
                        known.put(name, value)
                return
        if len(self._details) < MOST_CALLS:
            self._details.append(Growing(detail))

    def _take_fragment(self, fragment: dict[str, Any]) -> None:
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = {}
        name = function.get("name")
        name = name if isinstance(name, str) else ""
        identity = fragment.get("id")
        call = self._call_of(fragment.get("index"), identity if isinstance(identity, str) else "", name)
        self._answer.name(call, name)
        self._answer.write(call, function.get("arguments"))
        self._answer.tell(call)

    def _call_of(self, index: object, identity: str, name: str) -> GrowingCall:
        """The call that a fragment belongs to. Servers leave out the index, the id, or use one index for all."""
        if isinstance(index, int):
            call = self._slots.get(index)
            if call is None or (identity and call.id and identity != call.id and name):
                call = self._slots[index] = self._answer.new_call()
        else:
            call = next((known for known in self._answer.calls if identity and known.id == identity), None)
            if call is None:
                fresh = identity or (name and (not self._answer.calls or self._answer.calls[-1].arguments))
                call = self._answer.new_call() if fresh or not self._answer.calls else self._answer.calls[-1]
        self._answer.identify(call, identity)
        return call


def _objects(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Tokens as the server counted them, or None if it did not really count."""
    prompt = count_of(usage, "prompt_tokens")
    completion = count_of(usage, "completion_tokens")
    if not prompt and not completion:
        return None
    read = count_of(usage, "prompt_tokens_details", "cached_tokens") or count_of(usage, "prompt_cache_hit_tokens")
    return Usage(
        input=prompt,
        output=completion,
        cache_read=min(read, prompt),
        cache_write=min(count_of(usage, "prompt_tokens_details", "cache_write_tokens"), prompt),
        reasoning=count_of(usage, "completion_tokens_details", "reasoning_tokens"),
    )


def read_cost(usage: Mapping[str, Any]) -> int | None:
    """Micro-dollars that the call costs, rounded up, where the server says so (OpenRouter).

    With the owner's own key at the provider behind it (`is_byok`), what that one charges comes on top.
    https://openrouter.ai/docs/use-cases/usage-accounting
    """
    charged = _dollars(usage.get("cost"))
    if charged is not None and usage.get("is_byok") is True:
        details = usage.get("cost_details")
        behind = _dollars(details.get("upstream_inference_cost")) if isinstance(details, dict) else None
        charged = None if behind is None else charged + behind
    # binary fractions: 0.000123 * 1e6 is a little more than 123
    return None if charged is None else math.ceil(round(charged * 1_000_000, 3))


def _dollars(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if 0 <= value < 1e6 else None
