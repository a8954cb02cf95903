"""Pages that a session shows to the user, and what is asked of a browser that shows one."""

from typing import NamedTuple

from hob.core.ids import SessionKey, TurnId, digest
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class CanvasPage:
    """One version of a page. `at` is when it was presented (Unix seconds); `scripts`: they run in it.

    `server` is the MCP server whose app it is, and whose tools it may call; empty for every other page.
    """

    session: SessionKey
    name: str
    turn: TurnId
    title: str = ""
    version: int = 0
    at: float = 0.0
    scripts: bool = False
    hidden: bool = False
    server: str = ""

    @property
    def id(self) -> str:
        """The same for every version."""
        return digest(f"{self.session} {self.name}")[:12]


class CanvasQuestion(NamedTuple):
    """A script to be run in a page; none: what is asked is how the page looks."""

    id: str
    script: str


class CanvasAnswer(NamedTuple):
    """What a page said: the word of whoever wrote it."""

    text: str
    failed: bool = False
