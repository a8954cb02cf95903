"""All errors of the system, grouped by who must act. A class's docstring is its default message."""

import inspect
from enum import StrEnum

from hob.core.models import Usage


class HobError(Exception):
    """Something went wrong."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail or inspect.cleandoc(type(self).__doc__ or ""))


# The operator must act.


class NotConfigured(HobError):
    """A setting is missing or wrong; see `hob config check`."""


class NotReady(NotConfigured):
    """Something that a setting names is not available now; it may be later."""


class HomeInUse(HobError):
    """Another Hob owns this home."""

    def __init__(self, detail: str = "", holder: str = "") -> None:
        super().__init__(detail)
        self.holder = holder


class StoreError(HobError):
    """The database cannot be used."""


class StoreFull(StoreError):
    """The disk is full or not writable; nothing was accepted. Free some space; then Hob continues."""


class StoreDamaged(StoreError):
    """The database file is damaged; see `hob restore`."""


class StoreTooNew(StoreError):
    """The database was written by a newer Hob; upgrade Hob, or restore the backup made before the upgrade."""


# The caller must act.


class InvalidRequest(HobError):
    """The request cannot be understood."""


class KeyReused(HobError):
    """The key belongs to another message, which was accepted before; nothing was accepted. Choose a new one."""


class NotFound(HobError):
    """There is nothing by that name."""


class NotAllowed(HobError):
    """This sender may not do that."""

    def __init__(self, detail: str = "", *, line: str = "") -> None:
        super().__init__(detail)
        self.line = line  # shown to the sender; if empty, the sender gets no answer


class BusyScope(StrEnum):
    """The queue that is full."""

    SENDER = "sender"
    LANE = "lane"
    TOTAL = "total"
    SELF = "self"


class Busy(HobError):
    """Too much is waiting already; nothing was accepted."""

    def __init__(self, scope: BusyScope, retry_after: float, detail: str = "") -> None:
        super().__init__(detail)
        self.scope = scope
        self.retry_after = retry_after


class ShuttingDown(HobError):
    """Hob is shutting down; nothing was accepted. Send it again in a moment, with the same key."""


# The model's side failed; the owner may have to act.


class ModelFault(StrEnum):
    """Reason why a model gave no answer. The value is the machine-readable code at every interface."""

    AUTH = "auth"
    BILLING = "billing"
    RATE_LIMIT = "rate_limit"
    OVERLOAD = "overload"
    CONTEXT_OVERFLOW = "context_overflow"
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "model_not_found"
    NETWORK = "network"
    GARBAGE = "garbage"
    CUT = "cut_stream"
    TIMEOUT = "timeout"
    EMPTY = "empty_answer"
    FILTERED = "filtered"
    NOT_CONFIGURED = "no_model"
    SETTINGS = "model_settings"
    BUDGET = "budget"


BILLABLE_FAULTS = frozenset(
    {ModelFault.CUT, ModelFault.TIMEOUT, ModelFault.GARBAGE, ModelFault.EMPTY, ModelFault.FILTERED}
)
"""Faults after which a provider charges for the partial answer; other requests were rejected before any work."""


class ModelError(HobError):
    """The model gave no answer."""

    def __init__(
        self,
        fault: ModelFault,
        detail: str = "",
        *,
        retry_after: float | None = None,
        attempts: int = 1,
        usage: Usage | None = None,
        cost: int | None = None,
    ) -> None:
        super().__init__(detail)
        self.fault = fault
        self.retry_after = retry_after
        self.attempts = attempts
        self.usage = usage  # tokens used anyway, as far as known
        self.cost = cost  # in micro-dollars

    @property
    def is_billable(self) -> bool:
        """Whether the request may be charged for."""
        if self.usage is None and self.cost is None:
            return self.fault in BILLABLE_FAULTS
        return self.cost != 0


class BudgetExceeded(HobError):
    """The spending limit is reached; nothing was spent."""


# The model must act.


class ToolFailed(HobError):
    """The tool could not do it; the model may try another way."""


class InvalidCall(ToolFailed):
    """The call cannot be made as it is. Quotes only the call itself, so it does not taint the turn."""


class ToolRefused(HobError):
    """The policy does not allow this here; the owner may."""


class OutcomeUnknown(ToolFailed):
    """An interrupted call may or may not have taken effect; it is not repeated."""


# The user must act.


class UserInputNeeded(HobError):
    """A tool's result will be the user's answer; the message is the question."""

    def __init__(self, detail: str = "", *, again: bool = False) -> None:
        """`again` means that the call is repeated; the answer is then among the messages that joined its turn."""
        super().__init__(detail)
        self.again = again


class ResultPending(HobError):
    """A tool's result comes later, from `on`: the sub-agents (`child`) or the calling program (`client`)."""

    def __init__(self, on: str, seconds: float | None = None) -> None:
        """After `seconds` the result is no longer accepted."""
        super().__init__()
        self.on = on
        self.seconds = seconds


# The channel's side failed.


class SendFailed(HobError):
    """The channel did not accept the message; it will be sent again."""

    def __init__(self, detail: str = "", *, permanent: bool = False, retry_after: float | None = None) -> None:
        super().__init__(detail)
        self.permanent = permanent
        self.retry_after = retry_after


def innermost(error: BaseException) -> BaseException:
    """Return the single error inside a task group's exception."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error
