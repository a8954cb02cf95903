"""Failures as OpenAI writes them, so that its clients raise the right exception and repeat only what may be repeated.

Format: https://platform.openai.com/docs/guides/error-codes. Its clients follow `x-should-retry` before the status.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from starlette.responses import Response

from hob.core.errors import ModelFault
from hob.core.values import dataclass
from hob.gateway.http.failures import Failure, HttpRefusal, status_of_fault
from hob.gateway.http.reply import failure_headers, failure_response, json_response, problem_response

_KINDS: Mapping[int, str] = {
    401: "authentication_error",
    402: "insufficient_quota",
    403: "permission_error",
    429: "rate_limit_error",
}
_OF_FAULT: Mapping[str, tuple[int, str]] = {
    ModelFault.CONTEXT_OVERFLOW.value: (400, "context_length_exceeded"),
    ModelFault.NOT_FOUND.value: (404, "model_not_found"),
}
"""Faults that OpenAI tells as mistakes of the caller."""
FAULT_STATUSES = tuple(sorted({400, 404, 409, 504, *(status_of_fault(fault.value) for fault in ModelFault)}))
"""How a request may end that was accepted."""


@dataclass(frozen=True, slots=True)
class OpenAIProblem:
    """Why there is no answer. `headers` say whether and when to repeat the request."""

    status: int
    code: str
    message: str
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The error as OpenAI writes it."""
        kind = _KINDS.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> Response:
        """The error as an answer of its own."""
        return json_response(self.body(), self.status, self.headers)


def failed(code: str, message: str) -> OpenAIProblem:
    """A turn has failed with this code. Hob has repeated what could be repeated, so the client need not."""
    status, code = _OF_FAULT.get(code, (status_of_fault(code), code))
    return OpenAIProblem(status, code, message, headers={"x-should-retry": "false"})


def refused(failure: Failure) -> OpenAIProblem:
    """Nothing was accepted."""
    headers = dict(failure_headers(failure))
    if failure.status in {409, 500}:  # clients take them for a lock that goes away, and for bad luck
        headers["x-should-retry"] = "false"
    return OpenAIProblem(failure.status, failure.code, failure.message, failure.param, headers)


def openai_response(failure: Failure) -> Response:
    """How the endpoints here write a failure."""
    return refused(failure).response()


def response_at(path: str, failure: Failure) -> Response:
    """A failure where no endpoint is there to write it, as those beside this path do."""
    if f"{path}/".startswith("/v1/"):
        return openai_response(failure)
    return problem_response(failure) if f"{path}/".startswith("/api/v1/") else failure_response(failure)


def wrong(param: str, why: str) -> HttpRefusal:
    """The refusal of a request because of one field of it."""
    return HttpRefusal("invalid_request", f"{param}: {why}", param=param)
