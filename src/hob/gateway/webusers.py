"""People who write in the browser, and the chats to which their answers go too: the port behind the routes."""

from typing import NamedTuple, Protocol

from hob.core.ids import SessionKey


class WebUser(NamedTuple):
    """Somebody who writes in the browser. `force_send`: the linked chat is sent to in silent mode too.

    `address` is the linked chat as people write it (`channel:id`), empty where none is; `created` in Unix seconds.
    """

    id: str
    name: str
    force_send: bool
    address: str
    created: float

    @property
    def session(self) -> SessionKey:
        """The conversation of this user."""
        return SessionKey(f"api:web-{self.id}")


class WebUsers(Protocol):
    """Who they are. All raise NotFound for an id that is none, InvalidRequest for what cannot be."""

    def all(self) -> tuple[WebUser, ...]:
        """Everybody, by name."""

    def one(self, id: str) -> WebUser:
        """The one with this id."""

    async def add(self, name: str) -> WebUser:
        """A new one; the one that has this name already, if there is one."""

    async def change(self, id: str, *, force_send: bool | None = None, address: str | None = None) -> WebUser:
        """Change what is given; an empty address links to no chat any more."""

    async def remove(self, id: str) -> None:
        """Forget the user and the link; the conversation stays."""
