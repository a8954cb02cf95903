"""Who calls, and what they may."""

from dataclasses import dataclass

from hob.core.labels import SenderClass
from hob.core.scopes import Scope

__all__ = ["AT_THE_SOCKET", "EVERYTHING", "WITH_THE_TOKEN", "Caller", "Scope"]


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody who has shown who they are: by a token of this name, or `local`, by reaching the Unix socket."""

    name: str
    scopes: frozenset[Scope]
    cls: SenderClass = SenderClass.OWNER
    local: bool = False

    def may(self, scope: Scope) -> bool:
        """Whether this is within what the caller may."""
        return scope in self.scopes or Scope.ADMIN in self.scopes

    @property
    def owner(self) -> bool:
        """Whether the caller's words are the owner's own in everything, leave included."""
        return self.cls is SenderClass.OWNER and self.may(Scope.APPROVE)

    @property
    def by(self) -> str:
        """Who it was, for what is kept."""
        return "local:owner" if self.local else f"api:{self.name or 'owner'}"


EVERYTHING = frozenset(Scope)
AT_THE_SOCKET = Caller("", EVERYTHING, local=True)
WITH_THE_TOKEN = Caller("", EVERYTHING)
"""Whoever holds the token that Hob made for its owner."""
