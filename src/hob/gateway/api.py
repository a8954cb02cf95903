"""The API apart from HTTP: what the routes need."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from hob.bus.notices import Hub
from hob.core.clock import Clock
from hob.core.content.media import Embeddings
from hob.core.ids import SessionKey, TurnId
from hob.core.models import PromptAnswer
from hob.core.ports.accept import Accept
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass
from hob.gateway.administration import TriedAnswer
from hob.gateway.answer_types import (
    BackupAnswer,
    ErasedAnswer,
    ForkedAnswer,
    ReloadedAnswer,
    ReplayAnswer,
    SessionAnswer,
    SessionDeletedAnswer,
    SessionDetailsAnswer,
    SessionsAnswer,
    SettingAnswer,
    SpendingAnswer,
    UndoneAnswer,
    ViewAnswer,
)
from hob.gateway.approvals import PendingApprovals
from hob.gateway.auth.login_codes import LoginCodes
from hob.gateway.auth.tokens import Keyring
from hob.gateway.http.prometheus import Metric
from hob.gateway.live.connected import OpenConnections
from hob.gateway.settings import GatewaySettings
from hob.guard.admission.pairing import PairingService
from hob.store.store import Store

T = TypeVar("T")


class Conversations(Protocol):
    """Sessions, as their owner sees and changes them. All raise NotFound for an unknown session."""

    async def all(self, *, archived: bool) -> SessionsAnswer:
        """Return every session, latest first; the archived ones instead if asked."""

    async def key(self, name: str) -> SessionKey:
        """Return a session's key."""

    async def one(self, name: str) -> SessionDetailsAnswer:
        """Return one session and its latest messages."""

    async def change(
        self, name: str, *, title: str | None, paused: bool | None, archived: bool | None
    ) -> SessionAnswer:
        """Change what is given. Raises InvalidRequest."""

    async def delete(self, name: str) -> SessionDeletedAnswer:
        """Erase all that was said in it. Raises InvalidRequest while it is working."""

    async def fork(self, name: str, before: int | None = None) -> ForkedAnswer:
        """Copy a session, up to a place in it, into a new one. Raises InvalidRequest."""


class Models(Protocol):
    """The models that callers may choose from."""

    def names(self) -> Sequence[str]:
        """Return the configured models by reference and alias, the default one first."""

    def check(self, name: str, *, bare: bool = False) -> None:
        """Raise NotFound for a name that leads to no available model.

        The default server takes any name without a provider as one of its models: with `bare`, that suffices.
        """

    def embedding(self, name: str = "") -> str:
        """Return the reference of the embedding model.

        Raises ModelError if there is none, NotFound if the name means another one.
        """

    async def embed(self, texts: Sequence[str], sender: SenderClass) -> Embeddings:
        """Embed texts within this sender's spending limits. Raises ModelError."""


class Operations(Protocol):
    """What routes may trigger; the commands use the same operations."""

    @property
    def conversations(self) -> Conversations:
        """Sessions, as their owner sees and changes them."""

    async def stop(self, session: SessionKey, reason: str) -> bool:
        """Stop a session's running turn. Return False if there was none."""

    async def wake(self, turn: TurnId) -> bool:
        """Wake a parked turn, whose wait is over. Return False if it does not wait."""

    async def stop_all(self, reason: str) -> int:
        """Stop every turn and command, and hold self-started work until `lift`. Return how many were stopped."""

    async def lift(self) -> bool:
        """Resume self-started work. Return False if none was held."""

    async def retry(self, id: str) -> Mapping[str, Any]:
        """Retry what failed or was quarantined. Raises NotFound."""

    async def cancel(self, id: str, reason: str) -> bool:
        """Stop the work on a message, or remove it from its queue. Return False if it had already ended."""

    async def retry_all(self, reason: str) -> Mapping[str, Any]:
        """Retry every turn that failed with this error code."""

    async def status(self) -> Mapping[str, Any]:
        """Return Hob's status: `StatusAnswer`, and what features add to it."""

    def mode(self) -> str:
        """Return `remote` if other machines reach Hob, `full` if it is in chats too, else `standalone`."""

    def settings(self) -> Sequence[SettingAnswer]:
        """Return every setting with its value, its manual, and the value's origin."""

    async def change_settings(self, values: Mapping[str, Any], by: str) -> Sequence[SettingAnswer]:
        """Change settings that may change while Hob runs, all or none; null removes a change.

        Return the settings afterwards. Raises InvalidRequest.
        """

    async def usage(self, days: int, by: str) -> SpendingAnswer:
        """Return the spending of the last days by day, model, session, sender or task, and each limit.

        Raises InvalidRequest.
        """

    async def probe_model(self, name: str, draft: str = "") -> TriedAnswer:
        """Ask a model for a word and for a tool call, within the spending limits; a draft changes how it is reached."""

    async def prompt(self, session: str) -> PromptAnswer:
        """Return what the next request of a session would contain, in bytes and tokens by section."""

    async def undo(self, id: str, session: str, *, preview: bool) -> UndoneAnswer:
        """Restore files that a turn changed, or preview that. Raises NotFound, InvalidRequest."""

    async def replay(self, id: str, model: str) -> ReplayAnswer:
        """Return what models were sent in a turn, and another model's answer to it if one is named. Executes nothing.

        Raises NotFound, InvalidRequest.
        """

    async def metrics(self) -> Sequence[Metric]:
        """Return the metrics for monitoring."""

    async def erase(self, person: str, *, preview: bool) -> ErasedAnswer:
        """Forget a person, by id or address, or preview that. Raises NotFound, InvalidRequest."""

    def reload(self) -> ReloadedAnswer:
        """Reload settings and secrets. Return which settings wait for a restart."""

    async def backup(self, file: Path) -> BackupAnswer:
        """Write a consistent copy of the database."""

    def accepting(self) -> bool:
        """Return whether messages are accepted; no longer once Hob is shutting down."""

    def hand_over(self) -> None:
        """End after the current work, since a daemon wants the home. Raises NotAllowed in the daemon itself."""


@dataclass(frozen=True, slots=True)
class Api:
    """What the routes need."""

    accept: Accept
    store: Store
    hub: Hub
    operations: Operations
    settings: GatewaySettings
    clock: Clock
    keyring: Keyring
    people: PairingService
    pending_approvals: Callable[[], PendingApprovals]
    """Loads them on first use."""
    models: Models
    mask: Callable[[str], str] = str
    """Masks known secrets in whatever leaves."""
    refused: Callable[[str], None] = lambda who: None
    """Called with the origin of each call without a valid token."""
    ports: Mapping[type, object] = field(default_factory=dict)
    """The ports of features."""
    connected: OpenConnections = field(default_factory=OpenConnections)
    """The open WebSockets."""
    dashboard: str = ""
    """The dashboard's URL; empty if it does not listen."""
    views: Sequence[ViewAnswer] = ()
    """Features' pages in the dashboard: `name`, `title` and what they `ask`."""
    login_codes: LoginCodes = field(default_factory=LoginCodes)
    """The one-time codes that sign browsers in."""
    _kept: dict[type, object] = field(default_factory=dict)

    def port(self, kind: type[T]) -> T:
        """Return a feature's port for its routes. Raises KeyError if there is none."""
        return cast(T, self.ports[kind])

    def kept(self, kind: type[T]) -> T:
        """Return what routes keep in memory for this run, made on first use."""
        if kind not in self._kept:
            self._kept[kind] = kind()
        return cast(T, self._kept[kind])
