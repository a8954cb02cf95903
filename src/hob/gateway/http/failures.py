"""Errors over HTTP: their codes, and one status per code."""

from collections.abc import Mapping
from typing import TypedDict

from hob.core.errors import (
    Busy,
    BusyScope,
    HobError,
    InvalidRequest,
    KeyReused,
    ModelFault,
    NotAllowed,
    NotConfigured,
    NotFound,
    ShuttingDown,
    StoreError,
    StoreFull,
)
from hob.core.values import dataclass
from hob.gateway.http.fields import WrongField

STATUS: Mapping[str, int] = {
    "invalid_request": 400,
    "context_length_exceeded": 400,
    "unauthorized": 401,
    "not_allowed": 403,
    "missing_scope": 403,
    "wrong_origin": 403,
    "missing_csrf": 403,
    "not_found": 404,
    "model_not_found": 404,
    "method_not_allowed": 405,
    "key_reused": 409,
    "outdated": 409,
    "too_large": 413,
    "not_json": 415,
    "wrong_host": 421,
    "too_many_attempts": 429,
    "too_many_files": 429,
    "busy_sender": 429,
    "busy_lane": 429,
    "busy_self": 429,
    "busy_total": 503,
    "too_many_connections": 503,
    "stopping": 503,
    "store": 503,
    "not_configured": 503,
    "store_full": 507,
    "internal": 500,
}
"""The HTTP status of every error code, for requests that had no effect."""

MODEL_STATUS: Mapping[str, int] = {
    ModelFault.BILLING.value: 402,
    ModelFault.BUDGET.value: 402,
    ModelFault.RATE_LIMIT.value: 429,
    ModelFault.OVERLOAD.value: 503,
    ModelFault.NOT_CONFIGURED.value: 503,
    ModelFault.SETTINGS.value: 503,
    ModelFault.TIMEOUT.value: 504,
}
"""The HTTP status of a model's failure; 502 for all others."""


class ErrorBody(TypedDict):
    """What went wrong.

    code: for programs
    message: for people
    """

    code: str
    message: str


class Failed(TypedDict):
    """An error."""

    error: ErrorBody


@dataclass(frozen=True, slots=True)
class Failure:
    """An error for programs: a code of `STATUS`, a message, and the seconds to wait before a retry.

    `param` is the path of the invalid field, if any.
    """

    code: str
    message: str
    retry_after: int | None = None
    param: str | None = None

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUS[self.code]

    def view(self) -> Failed:
        """Return the body of the answer."""
        return {"error": {"code": self.code, "message": self.message}}


class HttpRefusal(Exception):
    """Raised by the gateway for errors outside Hob's own hierarchy: a body too large, a missing scope."""

    def __init__(self, code: str, message: str, retry_after: int | None = None, *, param: str | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(code, message, retry_after, param)

    @classmethod
    def of(cls, failure: Failure) -> "HttpRefusal":
        """Return an exception for this failure."""
        return cls(failure.code, failure.message, failure.retry_after, param=failure.param)


def failure_of(error: HobError) -> Failure:
    """Return the failure that represents an error over HTTP."""
    text = str(error)
    match error:
        case Busy():
            return Failure(f"busy_{error.scope}", text, max(1, round(error.retry_after)))
        case ShuttingDown():
            return Failure("stopping", text, 2)
        case StoreFull():
            return Failure("store_full", text, 30)
        case StoreError():
            return Failure("store", text, 30)
        case WrongField():
            return Failure("invalid_request", text, param=error.path)
        case InvalidRequest():
            return Failure("invalid_request", text)
        case KeyReused():
            return Failure("key_reused", text)
        case NotAllowed():
            return Failure("not_allowed", text)
        case NotFound():
            return Failure("not_found", text)
        case NotConfigured():
            return Failure("not_configured", text)
        case _:
            return Failure("internal", text)


def status_of_fault(code: str) -> int:
    """Return the HTTP status of a turn that failed with this code."""
    return MODEL_STATUS.get(code, 502)


BUSY = tuple(f"busy_{scope}" for scope in BusyScope)
