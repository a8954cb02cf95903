"""Ports of the agent that have one user alone."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol, TypeGuard, runtime_checkable

from hob.core.content.files import BootstrapFile
from hob.core.content.media import SpeechTranscript
from hob.core.ids import ApprovalId, CallId, SessionKey, TurnId
from hob.core.memory import Memory
from hob.core.messages import Address
from hob.core.models import Entry
from hob.core.ports.model import Model, Routes
from hob.core.ports.tools import Toolset
from hob.core.steps import ApprovalAnswered, ApprovalAsked
from hob.core.tools import ToolCall, ToolResult
from hob.core.translation.remarks import Remark
from hob.core.trust.labels import Label, SenderClass
from hob.core.turns import Turn, View

LimitOf = Callable[[Address], int]
"""The most characters one message to this address may have."""


class Transcribe(Protocol):
    """Writes down what is said in a recording."""

    async def __call__(
        self, audio: bytes, media_type: str, session: SessionKey, sender: SenderClass
    ) -> SpeechTranscript:
        """The words, within the limits of spending for this sender. Raises ModelError."""


class TurnMemory(Protocol):
    """What a turn is shown of memory by itself."""

    def allowed(self, turn: Turn, model: str) -> bool:
        """Whether it is shown any, with this model, now."""

    async def news(self, turn: Turn) -> Sequence[Remark]:
        """What was remembered since a turn of this person's was told last; the same again for the same turn. Never
        raises."""

    async def recall_for(self, turn: Turn, query: str, limit: int, shown_from: int) -> Sequence[Memory]:
        """What helps with the query, best first; not what its conversation shows from that place on. Never raises."""

    def overflowed(self) -> None:
        """Not all that helps had room in the prompt."""


class Approvals(Protocol):
    """Puts a question to the owner."""

    async def ask(self, call: ToolCall, reason: str, turn: Turn) -> ApprovalId:
        """Ask once per turn and call; asking again gives the same id. Raises StoreErrors."""

    async def render_question(self, approval: ApprovalId) -> str:
        """The question as people are to see it, with the true arguments and how to answer. Raises StoreErrors."""

    async def find_answer(self, question: ApprovalAsked) -> ApprovalAnswered | None:
        """The answer, or that none came in time; None while the question stands. Raises StoreErrors."""


class LateResults(Protocol):
    """What comes for calls whose turn was parked for it."""

    async def find(self, turn: TurnId, call: CallId) -> ToolResult | None:
        """The call's result; None while there is none. Raises StoreErrors."""


class SessionHistory(Protocol):
    """What was said in a session, also what its prompt only names."""

    async def load_view(self, session: SessionKey, at_most: int) -> View:
        """The newest summary and the last entries after it."""

    async def load_round(self, session: SessionKey, n: int) -> tuple[Entry, ...]:
        """The entry at this place, with the results of its calls; nothing where none is to be shown."""


class Bootstrap(Protocol):
    """The identity files of the workspace."""

    def load(self) -> tuple[BootstrapFile, ...]:
        """The files that are there, in prompt order; the very same tuple while none has changed. Never raises."""


@runtime_checkable
class GroupedTools(Protocol):
    """A toolset of which sessions open more and more."""

    def of(self, session: SessionKey) -> Toolset:
        """What this session may call now."""


@runtime_checkable
class ClosedToolHints(Protocol):
    """A session's tools beside others that it could open."""

    def how_to_open(self, name: str) -> str:
        """What the model must do to call this tool, in a sentence; empty where there is no such tool."""


def tools_of(toolset: Toolset, session: SessionKey) -> Toolset:
    """What this session may call now, whichever kind of toolset it is."""
    return toolset.of(session) if _is_grouped(toolset) else toolset


def can_route(model: Model) -> TypeGuard[Routes]:
    """Whether the model chooses who answers; each kind of model is looked at once."""
    return _is_router(type(model))


@lru_cache(64)
def _is_router(kind: type) -> bool:
    return issubclass(kind, Routes)


def _is_grouped(toolset: Toolset) -> TypeGuard[GroupedTools]:
    return _opens_more(type(toolset))


@lru_cache(64)
def _opens_more(kind: type) -> bool:
    return issubclass(kind, GroupedTools)


class PromptSection(Protocol):
    """A named part of prompts besides Hob's own.

    What is `cached` stands at the beginning, as it was when the session began or was compacted last, so that a
    provider's cache can hold it; until `epoch` is another number, since something of it is to be shown no longer. All
    else belongs to the newest message, as it is when the turn begins.
    """

    @property
    def name(self) -> str:
        """As `hob prompt` shows it."""

    @property
    def cached(self) -> bool:
        """Whether it stands at the beginning."""

    @property
    def epoch(self) -> int:
        """Another number than before: what was written for this session earlier does not hold any more."""

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        """The text for the senders and the session of this turn; None: nothing. Never raises.

        Untrusted text stands between marks with the turn's messages, and taints. A preview's turn has no message.
        """
