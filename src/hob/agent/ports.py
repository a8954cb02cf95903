"""Ports used only by the agent."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache
from typing import Protocol, TypeGuard, runtime_checkable

from hob.core.content.files import BootstrapFile
from hob.core.content.media import SpeechTranscript
from hob.core.ids import ApprovalId, CallId, SessionKey, TurnId
from hob.core.memory import Memory
from hob.core.messages import Address
from hob.core.models import TranscriptEntry
from hob.core.ports.model import Model, RoutesRequests
from hob.core.ports.tools import Toolset
from hob.core.steps import ApprovalAnswered, ApprovalAsked
from hob.core.tools import ToolCall, ToolResult
from hob.core.translation.remarks import Remark
from hob.core.trust.labels import Label, SenderClass
from hob.core.turns import TranscriptView, Turn

LimitOf = Callable[[Address], int]
"""Returns the maximum number of characters of one message to this address."""

UnawaitedSubagents = Callable[[SessionKey], Awaitable[Mapping[SessionKey, str]]]
"""Returns the sub-agents whose results a session has not received: their sessions, with their labels."""


class Transcribe(Protocol):
    """Transcribes a recording."""

    async def __call__(
        self, audio: bytes, media_type: str, session: SessionKey, sender: SenderClass
    ) -> SpeechTranscript:
        """Return the transcript, within the spending limits for this sender. Raises ModelError."""


class TurnMemory(Protocol):
    """Memories added to a turn automatically."""

    def permitted(self, turn: Turn, model: str) -> bool:
        """Whether the policy lets this turn's senders use memory, with this model."""

    def allowed(self, turn: Turn, model: str) -> bool:
        """Whether memories may be shown in this turn, with this model. Only if it is also permitted."""

    async def news(self, turn: Turn) -> Sequence[Remark]:
        """Return what was remembered since this person's last turn; repeatable for the same turn. Never raises."""

    async def recall_for(self, turn: Turn, query: str, limit: int, shown_from: int) -> Sequence[Memory]:
        """Return memories relevant to the query, best first, except those the conversation shows from `shown_from` on.
        Never raises.
        """

    def overflowed(self) -> None:
        """Record that some relevant memories did not fit into the prompt."""


class Approvals(Protocol):
    """Asks the owner for approvals."""

    async def ask(self, call: ToolCall, reason: str, turn: Turn) -> ApprovalId:
        """Ask once per turn and call; asking again returns the same id. Raises StoreErrors."""

    async def render_question(self, approval: ApprovalId) -> str:
        """Return the question as people see it, with the true arguments and how to answer. Raises StoreErrors."""

    async def find_answer(self, question: ApprovalAsked) -> ApprovalAnswered | None:
        """Return the answer, or that none came in time; None while the question is open. Raises StoreErrors."""


class LateResults(Protocol):
    """Results for calls of parked turns."""

    async def find(self, turn: TurnId, call: CallId) -> ToolResult | None:
        """Return the call's result, or None if there is none yet. Raises StoreErrors."""


class SessionHistory(Protocol):
    """A session's transcript, including text its prompt shows only as stubs."""

    async def load_view(self, session: SessionKey, at_most: int) -> TranscriptView:
        """Return the newest summary and the last entries after it."""

    async def load_round(self, session: SessionKey, n: int) -> tuple[TranscriptEntry, ...]:
        """Return the entry with this number and the results of its calls; nothing if it may not be shown."""


class Bootstrap(Protocol):
    """The identity files of the workspace."""

    def load(self) -> tuple[BootstrapFile, ...]:
        """Return the files in prompt order; the identical tuple as long as no file changed. Never raises."""


@runtime_checkable
class GroupedTools(Protocol):
    """A toolset whose tools sessions open in groups."""

    def of(self, session: SessionKey) -> Toolset:
        """Return the tools this session may call now."""


@runtime_checkable
class ClosedToolHints(Protocol):
    """A session's tools, with hints about tools it has not opened."""

    def how_to_open(self, name: str) -> str:
        """Return a sentence that tells the model how to open this tool; empty if there is no such tool."""


def tools_of(toolset: Toolset, session: SessionKey) -> Toolset:
    """Return the tools this session may call now, for either kind of toolset."""
    return toolset.of(session) if _is_grouped(toolset) else toolset


def can_route(model: Model) -> TypeGuard[RoutesRequests]:
    """Whether the model chooses who answers."""
    return _implements(type(model), RoutesRequests)


def _is_grouped(toolset: Toolset) -> TypeGuard[GroupedTools]:
    return _implements(type(toolset), GroupedTools)


@lru_cache(128)
def _implements(kind: type, port: type) -> bool:
    """Whether a class implements a port; checked once per class, because a check takes long."""
    return issubclass(kind, port)


class PromptSection(Protocol):
    """A named section of the prompt, written by a feature.

    A `cached` section is part of the beginning of the prompt, as it was when the session began or was last compacted,
    so that the provider's cache hits; a changed `epoch` invalidates it at once. Any other section belongs to the newest
    message and is written when the turn begins.
    """

    @property
    def name(self) -> str:
        """The name that `hob prompt` shows."""

    @property
    def cached(self) -> bool:
        """Whether the section belongs to the beginning of the prompt."""

    @property
    def epoch(self) -> int:
        """A number whose change invalidates the text written earlier for this session."""

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        """Return the text for the senders and session of this turn, or None. Never raises.

        Untrusted text is put between marks with the turn's messages, and taints. A preview's turn has no message.
        """
