"""Gemini generateContent. Format: https://ai.google.dev/api/generate-content, https://ai.google.dev/api/models"""

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import quote

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId
from hob.core.models import Continuation, ModelRequest, StopReason, Usage
from hob.providers.http import decoder as decoding
from hob.providers.http.addresses import with_version
from hob.providers.http.decoder import make_usage, read_token_count
from hob.providers.http.faults import describe
from hob.providers.http.fields import Object, get_object, get_objects, get_text
from hob.providers.http.wire import ListedModel, Wire
from hob.providers.wires.gemini.encoding import WIRE, GeminiLayout, Part, encode_request, plan_thinking

# Decoder for `:streamGenerateContent`: responses of one shape, as events or as one array.
#
# Complete if a finish reason was seen and the stream has ended: no event marks the end.
#
# Format: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse

_STOPS: Mapping[str, StopReason] = {"STOP": StopReason.END, "MAX_TOKENS": StopReason.LENGTH}
_COUNTED = (
    "promptTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "cachedContentTokenCount",
    "toolUsePromptTokenCount",
)
_UNINTENDED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "OTHER"})
"""Finish reasons of answers that the model did not mean to give."""
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

    def _ended(self) -> StopReason | None:
        reason = self._finish
        if not reason:  # usage without a candidate: nothing was cut, the server has no answer
            return StopReason.END if self._usage and not self._heard and not self._broken else None
        if reason in _STOPS:
            return _STOPS[reason]
        words = f"{reason.lower()}: {self._why}" if self._why else reason.lower()
        if reason in _WITHHELD:
            self._raise_withheld(words)
        if self._answer.calls and reason not in _UNINTENDED:  # newer than this table; its calls are complete
            return StopReason.TOOLS
        raise ModelError(ModelFault.EMPTY, describe(ModelFault.EMPTY, self._host, words, self._secrets))

    def _counted(self) -> Usage | None:
        return read_usage(self._usage)

    def _complete(self, stop: StopReason) -> None:
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
        self._answer.model = get_text(response, "modelVersion") or self._answer.model
        self._count(get_object(response, "usageMetadata"))
        feedback = get_object(response, "promptFeedback")
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
        for part in get_objects(get_object(candidate, "content"), "parts"):
            self._take_part(part)
        reason = candidate.get("finishReason")
        if isinstance(reason, str) and reason != "FINISH_REASON_UNSPECIFIED":
            self._finish, self._why = reason, get_text(candidate, "finishMessage")

    def _take_part(self, part: Object) -> None:
        signature, text, call = get_text(part, "thoughtSignature"), get_text(part, "text"), part.get("functionCall")
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
    """Return the server's token counts, or None if it did not really count."""
    prompt = read_token_count(usage, "promptTokenCount") + read_token_count(usage, "toolUsePromptTokenCount")
    thought = read_token_count(usage, "thoughtsTokenCount")
    return make_usage(
        prompt,
        read_token_count(usage, "candidatesTokenCount") + thought,
        cache_read=read_token_count(usage, "cachedContentTokenCount"),
        reasoning=thought,
    )


_MAX_MODELS = 1_000  # per page; there are some dozens


class GenerateContent(Wire):
    """Implements `Wire`."""

    name = WIRE
    decodes = GeminiDecoder
    models_field = "models"

    def chat_url(self, base_url: str, model: str) -> str:
        name = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        return f"{with_version(base_url, '/v1beta')}/{quote(name, safe='/@')}:streamGenerateContent?alt=sse"

    def models_url(self, base_url: str) -> str:
        return f"{with_version(base_url, '/v1beta')}/models?pageSize={_MAX_MODELS}"

    def headers(self, key: str) -> Mapping[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def max_output(self, model: str, request: ModelRequest) -> int:
        return int(plan_thinking(model, request.thinking, request.max_tokens)["maxOutputTokens"])

    def encode(self, request: ModelRequest, *, model: str, images: Mapping[BlobId, bytes]) -> bytes:
        return encode_request(request, model=model, images=images)

    def _read_model(self, row: Object) -> ListedModel | None:
        if not isinstance(row.get("name"), str) or not _is_chat_model(row):
            return None
        return ListedModel(
            row["name"].removeprefix("models/"),
            context_tokens=read_token_count(row, "inputTokenLimit") or None,
            output_tokens=read_token_count(row, "outputTokenLimit") or None,
            thinking=row["thinking"] if isinstance(row.get("thinking"), bool) else None,
        )


def _is_chat_model(row: Mapping[str, Any]) -> bool:
    methods = row.get("supportedGenerationMethods")
    return not isinstance(methods, list) or "generateContent" in methods
