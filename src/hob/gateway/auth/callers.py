"""Callers of the API: their scopes, and what they may."""

from hob.core.trust.labels import SenderClass
from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass

__all__ = ["AT_THE_SOCKET", "EVERYTHING", "WITH_THE_TOKEN", "ApiCaller", "TokenScope"]


@dataclass(frozen=True, slots=True)
class ApiCaller:
    """Somebody who has shown who they are: by a token of this name, or `local`, by reaching the Unix socket."""

    name: str
    scopes: frozenset[TokenScope]
    cls: SenderClass = SenderClass.OWNER
    local: bool = False

    def may(self, scope: TokenScope) -> bool:
        """Whether this is within what the caller may."""
        return scope in self.scopes or TokenScope.ADMIN in self.scopes

    @property
    def owner(self) -> bool:
        """Whether the caller's words are the owner's own in everything, approval included."""
        return self.cls is SenderClass.OWNER and self.may(TokenScope.APPROVE)

    @property
    def by(self) -> str:
        """Who it was, for what is kept."""
        return "local:owner" if self.local else f"api:{self.name or 'owner'}"


EVERYTHING = frozenset(TokenScope)
AT_THE_SOCKET = ApiCaller("", EVERYTHING, local=True)
WITH_THE_TOKEN = ApiCaller("", EVERYTHING)
"""Anyone who holds the token that Hob made for its owner."""
