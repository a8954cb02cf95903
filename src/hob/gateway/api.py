"""The parts of the API that are independent of HTTP: what the routes need."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from hob.bus.notices import Hub
from hob.core.clock import Clock
from hob.core.content.media import Embeddings
from hob.core.ids import SessionKey, TurnId
from hob.core.lazy import resolve
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
    SettingsFileAnswer,
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
    """The owner's operations on sessions. All raise NotFound for an unknown session."""

    async def all(self, *, archived: bool) -> SessionsAnswer:
        """Return all sessions, or only the `archived` ones, latest first."""

    async def key(self, name: str) -> SessionKey:
        """Return a session's key."""

    async def one(self, name: str) -> SessionDetailsAnswer:
        """Return one session and its latest messages."""

    async def change(
        self, name: str, *, title: str | None, paused: bool | None, archived: bool | None
    ) -> SessionAnswer:
        """Change the given fields. Raises InvalidRequest."""

    async def delete(self, name: str) -> SessionDeletedAnswer:
        """Erase everything said in a session. Raises InvalidRequest while a turn is running."""

    async def fork(self, name: str, before: int | None = None) -> ForkedAnswer:
        """Copy a session, up to a position, into a new one. Raises InvalidRequest."""


class Models(Protocol):
    """The models that callers may choose from."""

    def names(self) -> Sequence[str]:
        """Return the configured models by reference and alias, the default one first."""

    def check(self, name: str, *, bare: bool = False) -> None:
        """Raise NotFound unless the name refers to an available model.

        With `bare`, any name without a provider passes, since the default server may offer it.
        """

    def embedding(self, name: str = "") -> str:
        """Return the reference of the embedding model.

        Raises ModelError if there is none, NotFound if `name` refers to another model.
        """

    async def embed(self, texts: Sequence[str], sender: SenderClass) -> Embeddings:
        """Embed texts within this sender's spending limits. Raises ModelError."""


class Operations(Protocol):
    """Operations that routes can trigger; commands use the same ones."""

    @property
    def conversations(self) -> Conversations:
        """The owner's operations on sessions."""

    async def wake(self, turn: TurnId) -> bool:
        """Wake a parked turn whose wait is over. Return False if it is not waiting."""

    async def stop_all(self, reason: str) -> int:
        """Stop every turn and command, and hold self-started work until `lift`. Return how many were stopped."""

    async def lift(self) -> bool:
        """Resume self-started work. Return False if none was held."""

    async def retry(self, id: str) -> Mapping[str, Any]:
        """Retry failed or quarantined work. Raises NotFound."""

    async def cancel(self, id: str, reason: str) -> bool:
        """Stop the work on a message, or remove it from its queue. Return False if it had already ended."""

    async def retry_all(self, reason: str) -> Mapping[str, Any]:
        """Retry every turn that failed with this error code."""

    async def status(self) -> Mapping[str, Any]:
        """Return Hob's status: `StatusAnswer` and the features' own fields."""

    def mode(self) -> str:
        """Return `remote` if other machines reach Hob, `full` if it is in chats too, else `standalone`."""

    def settings(self) -> Sequence[SettingAnswer]:
        """Return every setting with its value, its description and the value's origin."""

    async def settings_file(self) -> SettingsFileAnswer:
        """Return the settings file's own text without secrets. Raises NotConfigured if it is not valid TOML."""

    async def change_settings(self, values: Mapping[str, Any], by: str) -> Sequence[SettingAnswer]:
        """Change settings that may change while Hob runs, all or none; null removes a change.

        Return the settings afterwards. Raises InvalidRequest.
        """

    async def usage(self, days: int, by: str) -> SpendingAnswer:
        """Return the spending of the last days by day, model, session, sender or task, and each limit.

        Raises InvalidRequest.
        """

    async def probe_model(self, name: str, draft: str = "") -> TriedAnswer:
        """Ask a model for a word and a tool call, within the spending limits; `draft` overrides its settings."""

    async def prompt(self, session: str) -> PromptAnswer:
        """Return what the next request of a session would contain, in bytes and tokens by section."""

    async def undo(self, id: str, session: str, *, preview: bool) -> UndoneAnswer:
        """Restore files that a turn changed, or preview that. Raises NotFound, InvalidRequest."""

    async def replay(self, id: str, model: str) -> ReplayAnswer:
        """Return the requests of a turn and, if a model is named, that model's answer to them. Executes no tool.

        Raises NotFound, InvalidRequest.
        """

    async def metrics(self) -> Sequence[Metric]:
        """Return the metrics for monitoring."""

    async def erase(self, person: str, *, preview: bool) -> ErasedAnswer:
        """Erase a person's data, by id or address, or preview that. Raises NotFound, InvalidRequest."""

    def reload(self) -> ReloadedAnswer:
        """Reload settings and secrets. Return which settings wait for a restart."""

    async def backup(self, file: Path) -> BackupAnswer:
        """Write a consistent copy of the database."""

    def accepting(self) -> bool:
        """Return whether messages are accepted; False once Hob is shutting down."""

    def hand_over(self) -> None:
        """Exit after the current work so that a daemon can own the home. Raises NotAllowed in the daemon itself."""


@dataclass(frozen=True, slots=True)
class Api:
    """The dependencies of the routes."""

    accept: Accept
    store: Store
    hub: Hub
    operations: Operations
    settings: GatewaySettings
    clock: Clock
    keyring: Keyring
    people: PairingService
    pending_approvals: Callable[[], PendingApprovals]
    """Loads the questions for approval on first use."""
    models: Models
    mask: Callable[[str], str] = str
    """Masks known secrets in everything that is sent."""
    refused: Callable[[str], None] = lambda who: None
    """Called with the origin of each call that has no valid token."""
    ports: Mapping[type, object] = field(default_factory=dict)
    """The ports of features; a `Lazy` one is loaded on first use."""
    connected: OpenConnections = field(default_factory=OpenConnections)
    """The open WebSockets."""
    dashboard: str = ""
    """The dashboard's URL; empty if it is not served."""
    views: Sequence[ViewAnswer] = ()
    """Features' pages in the dashboard: `name`, `title` and what they `ask`."""
    login_codes: LoginCodes = field(default_factory=LoginCodes)
    """The one-time codes that sign browsers in."""
    _kept: dict[type, object] = field(default_factory=dict)

    def port(self, kind: type[T]) -> T:
        """Return a feature's port for its routes. Raises KeyError if there is none."""
        return cast(T, resolve(self.ports[kind]))

    def kept(self, kind: type[T]) -> T:
        """Return the routes' in-memory state of this type, created on first use."""
        if kind not in self._kept:
            self._kept[kind] = kind()
        return cast(T, self._kept[kind])
