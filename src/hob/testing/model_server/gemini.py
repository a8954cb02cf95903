"""Gemini generateContent: https://ai.google.dev/api/generate-content, .../gemini-api/docs/thought-signatures."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote

from hob.testing.model_server import gemini_rules as rules
from hob.testing.model_server.framing import Event, Framing
from hob.testing.model_server.hypertext import Asked, dump, whole_json
from hob.testing.model_server.prompt import Prompt, Turn
from hob.testing.model_server.replies import Fault
from hob.testing.model_server.signatures import sign
from hob.testing.model_server.wire import Cause, WireAnswer, WireRefusal, WireWriter, bearer, in_order, pieces

_PATH = re.compile(r"/v1beta/models/([^/:]+):(generateContent|streamGenerateContent|countTokens)")
_QUOTA = (
    "You exceeded your current quota, please check your plan and billing details. For more information on this error, "
    "head to: https://ai.google.dev/gemini-api/docs/rate-limits."
)
_ERRORS: Mapping[Cause, tuple[int, str, str]] = {
    Cause.INTERNAL: (500, "INTERNAL", "An internal error has occurred."),
    Cause.OVERLOADED: (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
    Cause.RATE: (429, "RESOURCE_EXHAUSTED", _QUOTA),
    Cause.QUOTA: (429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted. Please check your billing."),
    Cause.PAYMENT: (402, "FAILED_PRECONDITION", "Please enable billing on your project."),
    Cause.KEY: (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    Cause.NO_KEY: (
        403,
        "PERMISSION_DENIED",
        "Method doesn't allow unregistered callers. Please use API Key to call this API.",
    ),
    Cause.FORBIDDEN: (403, "PERMISSION_DENIED", "The caller does not have permission."),
    Cause.BAD_REQUEST: (
        400,
        "INVALID_ARGUMENT",
        'Invalid JSON payload received. Unknown name "frobnicate": Cannot find field.',
    ),
    Cause.NO_MODEL: (404, "NOT_FOUND", "models/fake is not found for API version v1beta."),
    Cause.NO_PATH: (404, "NOT_FOUND", "Requested entity was not found."),
    Cause.OVERFLOW: (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    Cause.TOO_LARGE: (400, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
}


class Gemini:
    """Implements `Wire`."""

    def key(self, asked: Asked) -> str:
        query = parse_qs(asked.path.partition("?")[2])
        return asked.headers.get("x-goog-api-key") or query.get("key", [""])[0] or bearer(asked)

    def read(self, asked: Asked, request: Mapping[str, Any]) -> Prompt:
        path = asked.path.partition("?")[0]
        found = _PATH.fullmatch(path)
        if found is None:
            raise LookupError(path)
        model = unquote(found[1])
        rules.check(request, model)
        thinking = (request.get("generationConfig") or {}).get("thinkingConfig") or {}
        system = request.get("systemInstruction") or {"parts": []}
        return Prompt(
            model=model,
            stream=found[2] == "streamGenerateContent",
            request={**request, "model": model},
            turns=list(_turns(system, request["contents"])),
            segments=[system, request.get("tools") or [], *request["contents"]],
            thinks=bool(thinking.get("includeThoughts")),
            shows=bool(thinking.get("includeThoughts")),
            framing=Framing.ARRAY if _is_array(asked) else Framing.SSE_CRLF,
        )

    def refuse(self, refusal: WireRefusal, number: str, asked: Asked) -> bytes:
        status, name, message = _ERRORS[refusal.cause]
        error: dict[str, Any] = {
            "code": refusal.status or status,
            "message": refusal.message or message,
            "status": name,
        }
        if details := _details(refusal):
            error["details"] = details
        if refusal.cause is Cause.RATE and refusal.wait is not None:
            error["message"] += f" Please retry in {refusal.wait:g}s."
        dated = refusal.retry_after if refusal.dated else {}
        body = [{"error": error}] if _is_array(asked) else {"error": error}
        return whole_json(refusal.status or status, body, {**self.headers(number), **dated})

    def headers(self, number: str) -> Mapping[str, str]:
        return {"vary": "Origin, X-Origin, Referer", "server": "scaffolding on HTTPServer2", "server-timing": "gfet4t7"}

    def tell(self, answer: WireAnswer) -> WireWriter:
        return _Candidate(answer)


def _is_array(asked: Asked) -> bool:
    """Is the stream one JSON array? It is where the client did not ask for server-sent events."""
    path, _, query = asked.path.partition("?")
    return path.endswith(":streamGenerateContent") and "alt=sse" not in query.split("&")


def _details(refusal: WireRefusal) -> list[Mapping[str, Any]]:
    """https://cloud.google.com/apis/design/errors: the one that says how long to wait is RetryInfo."""
    prefix = "type.googleapis.com/google.rpc."
    if refusal.cause is Cause.KEY:
        info = {"reason": "API_KEY_INVALID", "domain": "googleapis.com"}
        return [{"@type": f"{prefix}ErrorInfo", **info, "metadata": {"service": "generativelanguage.googleapis.com"}}]
    if refusal.cause is Cause.RATE and refusal.wait is not None:
        violation = {
            "quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier",
            "quotaValue": "15",
        }
        return [
            {"@type": f"{prefix}QuotaFailure", "violations": [violation]},
            {"@type": f"{prefix}RetryInfo", "retryDelay": f"{refusal.wait:g}s"},
        ]
    if refusal.cause is Cause.BAD_REQUEST and refusal.param:
        return [
            {
                "@type": f"{prefix}BadRequest",
                "fieldViolations": [{"field": refusal.param, "description": refusal.message}],
            }
        ]
    return []


def _turns(system: Mapping[str, Any], contents: Sequence[Mapping[str, Any]]) -> Iterator[Turn]:
    if system["parts"]:
        yield Turn("system", _text(system["parts"]))
    for content in contents:
        for part in content["parts"]:
            if "functionResponse" in part:
                yield Turn("tool", _result(part["functionResponse"]["response"]))
        if any("functionResponse" not in part for part in content["parts"]):
            role = content.get("role", "user")
            yield Turn("assistant" if role == "model" else "user", _text(content["parts"]))


def _text(parts: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(part["text"] for part in parts if "text" in part and not part.get("thought"))


def _result(response: Mapping[str, Any]) -> str:
    """What a tool gave: by documented custom its object has one of these keys."""
    for name in ("output", "result", "error"):
        if isinstance(response.get(name), str):
            return str(response[name])
    return dump(response)


class _Candidate:
    """One reply as a row of responses or as one."""

    def __init__(self, answer: WireAnswer) -> None:
        self._answer = answer
        self._reply = answer.reply
        self._finish = "STOP"
        if answer.is_(Fault.FILTERED) or answer.reply.truncated:
            self._finish = "MAX_TOKENS" if answer.reply.truncated else "SAFETY"
        self._calls = list(self._parts_of_calls())
        self._running = self._usage(1)

    def whole(self) -> object:
        parts: list[Mapping[str, Any]] = []
        if self._thought():
            parts.append({"text": self._thought(), "thought": True})
        if self._reply.text:
            parts.append({"text": self._reply.text})
        return self._response([*parts, *self._calls], self._finish)

    def head(self) -> Sequence[Event]:
        return []

    def body(self) -> Sequence[Event]:
        rows: list[list[Mapping[str, Any]]] = [
            [{"text": piece} for piece in pieces(self._reply.text)],
            self._calls,
        ]
        thoughts = [{"text": piece, "thought": True} for piece in pieces(self._thought())]
        return [self._event([part]) for part in (*thoughts, *in_order(rows, self._reply.fault))]

    def tail(self) -> Sequence[Event]:
        finish = None if self._answer.is_(Fault.NO_FINISH) else self._finish
        return [self._event([{"text": ""}], finish)]

    def broken(self) -> Event:
        error = {"code": 503, "message": "The model is overloaded. Please try again later.", "status": "UNAVAILABLE"}
        return Event(dump({"error": error}))

    def _thought(self) -> str:
        return self._reply.reasoning if self._answer.prompt.shows else ""

    def _parts_of_calls(self) -> Iterator[Mapping[str, Any]]:
        """A call's arguments are an object; where the model wrote none, the real server gives up the answer.

        The first call of a step carries the signature for all of them.
        """
        for n, (name, arguments) in enumerate(self._reply.calls):
            try:
                found = json.loads(arguments)
            except ValueError:
                found = None
            if not isinstance(found, dict):
                self._finish = "MALFORMED_FUNCTION_CALL"
                return
            identity = {} if self._answer.is_(Fault.NO_IDS) else {"id": self._answer.call_id(n, "fc")}
            call = {"functionCall": {**identity, "name": name, "args": found}}
            yield {**call, "thoughtSignature": sign(name)} if n == 0 else call

    def _event(self, parts: Sequence[Mapping[str, Any]], finish: str | None = None) -> Event:
        return Event(dump(self._response(parts, finish)))

    def _response(self, parts: Sequence[Mapping[str, Any]], finish: str | None) -> Mapping[str, Any]:
        told: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if finish:
            told["finishReason"] = finish
        usage = self._usage(self._answer.said) if finish else self._running
        blocked = self._answer.is_(Fault.FILTERED) and not self._reply.text  # the prompt, not the answer
        return {
            **({"promptFeedback": {"blockReason": "SAFETY"}} if blocked else {"candidates": [told]}),
            **({} if self._answer.is_(Fault.NO_USAGE) else {"usageMetadata": usage}),
            "modelVersion": self._answer.prompt.model,
            "responseId": self._answer.number,
        }

    def _usage(self, said: int) -> Mapping[str, Any]:
        """Counts are of the answer so far; only the last ones are final."""
        answer = self._answer
        usage: dict[str, Any] = {
            "promptTokenCount": answer.tokens.input,
            "candidatesTokenCount": said,
            "totalTokenCount": answer.tokens.input + said + answer.thought,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": answer.tokens.input}],
        }
        if answer.thought:
            usage["thoughtsTokenCount"] = answer.thought
        if answer.tokens.read:
            usage["cachedContentTokenCount"] = answer.tokens.read
            usage["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": answer.tokens.read}]
        return usage
