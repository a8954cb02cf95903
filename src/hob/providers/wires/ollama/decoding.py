"""The answer of `POST /api/chat`: lines of JSON, the last of which is `done`.

Calls come whole, without ids. Format: https://docs.ollama.com/api/chat
"""

from collections.abc import Mapping
from typing import Any

from hob.core.errors import ModelError, ModelFault
from hob.core.models import Stop, Usage
from hob.providers.http import decoder as decoding
from hob.providers.http.decoder import count_of

_STOPS: Mapping[str, Stop] = {"stop": Stop.END, "length": Stop.LENGTH}
_NOT_READY = frozenset({"load", "unload"})


class Decoder(decoding.Decoder):
    """Decodes one answer."""

    lines_of_json = True

    def _ended(self) -> Stop | None:
        return None

    def _take_whole(self, answer: Any) -> bool:
        self._take(answer)
        return self.done

    def _take_text(self, chunk: Any) -> bool:
        message = chunk["message"]
        if len(message) != 2 or chunk["done"] or type(text := message["content"]) is not str or not text:
            return False
        self._answer.say(text)
        return True

    def _take_object(self, chunk: dict[str, Any]) -> None:
        if chunk.get("error"):
            self._raise_error(chunk["error"])
        message = chunk.get("message")
        if isinstance(message, dict):
            self._take_message(message)
        if chunk.get("done") is True:
            self._finish(chunk)

    def _take_message(self, message: dict[str, Any]) -> None:
        thought = message.get("thinking")
        if isinstance(thought, str) and thought:
            self._answer.think(thought)
        text = message.get("content")
        if isinstance(text, str) and text:
            self._answer.say(text)
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict) and isinstance(function.get("name"), str):
                identity = call.get("id")
                written = self._answer.new_call(identity if isinstance(identity, str) else "", function["name"])
                self._answer.write(written, function.get("arguments"))

    def _finish(self, chunk: dict[str, Any]) -> None:
        reason = chunk.get("done_reason")
        reason = reason if isinstance(reason, str) else ""
        if reason in _NOT_READY and not self._answer.begun:
            raise ModelError(ModelFault.OVERLOAD, f"{self._host} is loading the model; try again in a moment")
        if isinstance(chunk.get("model"), str):
            self._answer.model = chunk["model"]
        self._answer.usage = read_usage(chunk)
        self._complete(_STOPS.get(reason, Stop.END))


def read_usage(chunk: Mapping[str, Any]) -> Usage | None:
    """Tokens as the server counted them, or None if it did not; what it still held in memory it does not count."""
    prompt, output = count_of(chunk, "prompt_eval_count"), count_of(chunk, "eval_count")
    return Usage(prompt, output) if prompt or output else None
