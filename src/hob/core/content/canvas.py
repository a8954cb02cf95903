"""Canvas pages that a session shows to the user, and questions to the browser that displays them."""

from typing import NamedTuple

from hob.core.ids import SessionKey, TurnId, digest
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class CanvasPage:
    """One version of a canvas page. `at` is when it was presented (Unix seconds); `scripts` says whether its scripts
    run.

    `server` is the MCP server whose app the page is and whose tools it may call; empty for every other page.
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
        """An id shared by all versions of the page."""
        return digest(f"{self.session} {self.name}")[:12]


class CanvasQuestion(NamedTuple):
    """A script to run in a page; an empty one asks what the page looks like."""

    id: str
    script: str


class CanvasAnswer(NamedTuple):
    """The page's answer, attributed to the author of the page."""

    text: str
    failed: bool = False
