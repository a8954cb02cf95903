"""Web users, and the chats that also get their answers: the port behind the routes."""

from typing import NamedTuple, Protocol

from hob.core.ids import SessionKey


class WebUser(NamedTuple):
    """A person who writes in the browser. `force_send`: their linked chat receives messages in silent mode too.

    `address` is the linked chat as `channel:id`, or empty; `created` is in Unix seconds.
    """

    id: str
    name: str
    force_send: bool
    address: str
    created: float

    @property
    def session(self) -> SessionKey:
        """The session of this user."""
        return SessionKey(f"api:web-{self.id}")


class WebUsers(Protocol):
    """The web users. All raise NotFound for an unknown id, InvalidRequest for invalid values."""

    def all(self) -> tuple[WebUser, ...]:
        """Return all web users, by name."""

    def one(self, id: str) -> WebUser:
        """Return the web user with this id."""

    async def add(self, name: str) -> WebUser:
        """Add a web user, or return the one with this name."""

    async def change(self, id: str, *, force_send: bool | None = None, address: str | None = None) -> WebUser:
        """Change the given fields; an empty address removes the link to a chat."""

    async def remove(self, id: str) -> None:
        """Remove the user and the link; the conversation stays."""
