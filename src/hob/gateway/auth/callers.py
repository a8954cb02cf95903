"""Callers of the API and their scopes."""

from dataclasses import field

from hob.core.trust.labels import SenderClass
from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass

__all__ = ["AT_THE_SOCKET", "EVERYTHING", "WITH_THE_TOKEN", "ApiCaller", "TokenScope"]


@dataclass(frozen=True, slots=True)
class ApiCaller:
    """An authenticated caller: by a token of this name, or `local`, by reaching the Unix socket."""

    name: str
    scopes: frozenset[TokenScope]
    cls: SenderClass = SenderClass.OWNER
    local: bool = False
    until: float | None = field(default=None, compare=False)
    """When the secret that the caller showed expires (Unix seconds)."""

    def may(self, scope: TokenScope) -> bool:
        """Return whether the caller has this scope."""
        return scope in self.scopes or TokenScope.ADMIN in self.scopes

    @property
    def owner(self) -> bool:
        """Whether the caller speaks for the owner and may give approvals."""
        return self.cls is SenderClass.OWNER and self.may(TokenScope.APPROVE)

    @property
    def by(self) -> str:
        """The caller's name in records."""
        return "local:owner" if self.local else f"api:{self.name or 'owner'}"


EVERYTHING = frozenset(TokenScope)
AT_THE_SOCKET = ApiCaller("", EVERYTHING, local=True)
WITH_THE_TOKEN = ApiCaller("", EVERYTHING)
"""The caller with the owner's own token."""
