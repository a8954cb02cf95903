"""What log lines carry about the work they tell of: its trace, and that they hold no contents."""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

TRACE: ContextVar[str] = ContextVar("trace", default="")
"""The trace of the message that the running task serves; empty where it serves none."""
OWN: Mapping[str, bool] = MappingProxyType({"own": True})
"""`extra` of a log line of ids, states and figures alone, which is not searched for personal data."""


def own(trace: str) -> dict[str, object]:
    """The same for a line about the work of this trace."""
    return {"trace": trace, **OWN}
