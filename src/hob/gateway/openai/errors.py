"""Failures in OpenAI's format, so that clients raise the right exception and retry only what may be retried.

Format: https://platform.openai.com/docs/guides/error-codes. Clients give `x-should-retry` precedence over the status.
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
"""Faults that OpenAI reports as the caller's errors."""
FAULT_STATUSES = tuple(sorted({400, 404, 409, 504, *(status_of_fault(fault.value) for fault in ModelFault)}))
"""The statuses of requests that were accepted but failed."""


@dataclass(frozen=True, slots=True)
class OpenAIProblem:
    """A failure. `headers` say whether and when to retry."""

    status: int
    code: str
    message: str
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """Return the error in OpenAI's format."""
        kind = _KINDS.get(self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    def response(self) -> Response:
        """Return the error as a response."""
        return json_response(self.body(), self.status, self.headers)


def failed(code: str, message: str) -> OpenAIProblem:
    """Describe a failed turn. Hob has already retried, so the client need not."""
    status, code = _OF_FAULT.get(code, (status_of_fault(code), code))
    return OpenAIProblem(status, code, message, headers={"x-should-retry": "false"})


def refused(failure: Failure) -> OpenAIProblem:
    """Describe a request that was not accepted."""
    headers = dict(failure_headers(failure))
    if failure.status in {409, 500}:  # clients would retry these statuses
        headers["x-should-retry"] = "false"
    return OpenAIProblem(failure.status, failure.code, failure.message, failure.param, headers)


def openai_response(failure: Failure) -> Response:
    """Format a failure of these endpoints."""
    return refused(failure).response()


def response_at(path: str, failure: Failure) -> Response:
    """Format a failure below OpenAI's paths, where no endpoint exists."""
    if f"{path}/".startswith("/v1/"):
        return openai_response(failure)
    return problem_response(failure) if f"{path}/".startswith("/api/v1/") else failure_response(failure)


def wrong(param: str, why: str) -> HttpRefusal:
    """Refuse a request because of one field."""
    return HttpRefusal("invalid_request", f"{param}: {why}", param=param)
