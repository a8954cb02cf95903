"""Gemini generateContent. Format: https://ai.google.dev/api/generate-content, https://ai.google.dev/api/models"""

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId
from hob.core.models import Continuation, ModelRequest, Stop, Usage
from hob.providers.http import decoder as decoding
from hob.providers.http.addresses import versioned
from hob.providers.http.decoder import count_of
from hob.providers.http.faults import describe
from hob.providers.http.fields import Object, object_in, objects_in, text_in
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.wires.gemini.encoding import WIRE, GeminiLayout, Part, encode_request, plan_thinking

# The answer of `:streamGenerateContent`: responses of one shape, one after the other, as events or as one array.
#
# Complete when a finish reason was seen and the stream has ended: no event says that there are no more.
#
# Format: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse

_STOPS: Mapping[str, Stop] = {"STOP": Stop.END, "MAX_TOKENS": Stop.LENGTH}
_COUNTED = (
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    "toolUsePromptTokenCount",
)
_SPOILT = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "OTHER"})
"""The answer is not what the model meant to say, whatever came of it."""
_WITHHELD = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "IMAGE_SAFETY",
        "IMAGE_PROHIBITED_CONTENT",
        "IMAGE_RECITATION",
    }
)


class GeminiDecoder(decoding.Decoder):
    """Decodes one answer."""

    def __init__(
        self, *, host: str = "the server", salt: str = "", taken: Collection[str] = (), secrets: tuple[str, ...] = ()
    ) -> None:
        super().__init__(host=host, salt=salt, taken=taken, secrets=secrets)
        self._layout = GeminiLayout()
        self._said = 0
        self._usage: dict[str, Any] = {}
        self._finish = ""
        self._why = ""
        self._begun = False
        self._heard = False

    def _ended(self) -> Stop | None:
        reason = self._finish
        if not reason:  # a count and no candidate: nothing was cut, the server just has no answer
            return Stop.END if self._usage and not self._heard and not self._broken else None
        if reason in _STOPS:
            return _STOPS[reason]
        words = f"{reason.lower()}: {self._why}" if self._why else reason.lower()
        if reason in _WITHHELD:
            self._raise_withheld(words)
        if self._answer.calls and reason not in _SPOILT:  # newer than this table; what it calls is whole
            return Stop.TOOLS
        raise ModelError(ModelFault.EMPTY, describe(ModelFault.EMPTY, self._host, words, self._secrets))

    def _counted(self) -> Usage | None:
        return read_usage(self._usage)

    def _complete(self, stop: Stop) -> None:
        if self._layout.signed:
            self._answer.continuation = Continuation(WIRE, self._layout.data(self._said))
        self._answer.usage = self._counted()
        super()._complete(stop)

    def _take(self, chunk: Any) -> None:
        for response in chunk if isinstance(chunk, list) else (chunk,):
            super()._take(response)

    def _take_text(self, chunk: Any) -> bool:
        candidate = chunk["candidates"][0]
        (part,) = candidate["content"]["parts"]
        text = part["text"]
        if not self._begun or len(part) != 1 or type(text) is not str or "finishReason" in candidate:
            return False
        self._count(chunk.get("usageMetadata", ()))
        if text and not candidate.get("index"):
            self._said += len(text)
            self._answer.say(text)
        return True

    def _take_whole(self, answer: Any) -> bool:
        self._take(answer)
        return self._begun

    def _take_object(self, response: Part) -> None:
        if response.get("error"):
            self._raise_error(response["error"])
        self._answer.model = text_in(response, "modelVersion") or self._answer.model
        self._count(object_in(response, "usageMetadata"))
        feedback = object_in(response, "promptFeedback")
        if isinstance(blocked := feedback.get("blockReason"), str):
            self._raise_withheld(f"the prompt: {feedback.get('blockReasonMessage') or blocked.lower()}")
        candidates = response.get("candidates")
        if isinstance(candidates, list):
            self._begun = True
            if candidates and isinstance(candidates[0], dict) and not candidates[0].get("index"):
                self._take_candidate(candidates[0])

    def _count(self, usage: Any) -> None:
        for name in _COUNTED:
            if name in usage:
                self._usage[name] = usage[name]

    def _take_candidate(self, candidate: Part) -> None:
        self._heard = True
        for part in objects_in(object_in(candidate, "content"), "parts"):
            self._take_part(part)
        reason = candidate.get("finishReason")
        if isinstance(reason, str) and reason != "FINISH_REASON_UNSPECIFIED":
            self._finish, self._why = reason, text_in(candidate, "finishMessage")

    def _take_part(self, part: Object) -> None:
        signature, text, call = text_in(part, "thoughtSignature"), text_in(part, "text"), part.get("functionCall")
        self._answer.keep(len(signature))
        if isinstance(call, dict):
            made = self._answer.named_call(call.get("id"), call.get("name"))
            self._answer.write(made, call.get("args"))
            self._layout.add_call(signature or None, self._said)
        elif part.get("thought"):
            self._answer.think(text)
        else:
            self._said += len(text)
            self._answer.say(text)
            if signature:
                self._layout.add_text(signature, self._said)

    def _raise_withheld(self, words: str) -> None:
        raise ModelError(ModelFault.FILTERED, describe(ModelFault.FILTERED, self._host, words, self._secrets))


def read_usage(usage: Mapping[str, Any]) -> Usage | None:
    """Tokens as the server counted them, or None if it did not really count."""
    prompt = count_of(usage, "promptTokenCount") + count_of(usage, "toolUsePromptTokenCount")
    thought = count_of(usage, "thoughtsTokenCount")
    output = count_of(usage, "candidatesTokenCount") + thought
    if not prompt and not output:
        return None
    return Usage(
        input=prompt,
        output=output,
        cache_read=min(count_of(usage, "cachedContentTokenCount"), prompt),
        reasoning=thought,
    )


_MAX_MODELS = 1_000  # of one page; there are some dozens


class GenerateContent(Wire):
    """Implements `Wire`."""

    name = WIRE
    decodes = GeminiDecoder

    def chat_url(self, base_url: str, model: str) -> str:
        name = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        return f"{versioned(base_url, '/v1beta')}/{quote(name, safe='/@')}:streamGenerateContent?alt=sse"

    def models_url(self, base_url: str) -> str:
        return f"{versioned(base_url, '/v1beta')}/models?pageSize={_MAX_MODELS}"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def max_output(self, model: str, request: ModelRequest) -> int:
        return int(plan_thinking(model, request.thinking, request.max_tokens)["maxOutputTokens"])

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def read_models(self, listing: Any) -> tuple[ListedModel, ...] | None:
        """As `Wire.read_models`: those that answer, not those that embed or draw."""
        rows = listing.get("models") if isinstance(listing, dict) else None
        if not isinstance(rows, list):
            return None
        return tuple(
            ListedModel(
                row["name"].removeprefix("models/"),
                context_tokens=count_of(row, "inputTokenLimit") or None,
                output_tokens=count_of(row, "outputTokenLimit") or None,
                thinking=row["thinking"] if isinstance(row.get("thinking"), bool) else None,
            )
            for row in rows
            if isinstance(row, dict) and isinstance(row.get("name"), str) and _answers(row)
        )


def _answers(row: Mapping[str, Any]) -> bool:
    methods = row.get("supportedGenerationMethods")
    return not isinstance(methods, list) or "generateContent" in methods
