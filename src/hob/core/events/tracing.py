"""Attributes of log lines: the trace of the work, and whether the line is free of user content."""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

TRACE: ContextVar[str] = ContextVar("trace", default="")
"""Trace of the message that the current task serves; empty if it serves none."""
CONTENT_FREE: Mapping[str, bool] = MappingProxyType({"own": True})
"""`extra` for log lines of ids, states and numbers only, which are not searched for personal data."""


def content_free(trace: str) -> dict[str, object]:
    """Return the same `extra` with this trace."""
    return {"trace": trace, **CONTENT_FREE}
