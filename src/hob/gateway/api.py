"""What the API is made of, apart from HTTP: what the routes need."""

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
from hob.gateway.live.connected import Connected
from hob.gateway.settings import GatewaySettings
from hob.guard.admission.pairing import PairingService
from hob.store.store import Store

T = TypeVar("T")


class Conversations(Protocol):
    """Sessions, for their owner. All raise NotFound for what is none."""

    async def all(self, *, archived: bool) -> SessionsAnswer:
        """Every session, the latest first; the archived ones instead if asked."""

    async def key(self, name: str) -> SessionKey:
        """What a session is kept under."""

    async def one(self, name: str) -> SessionDetailsAnswer:
        """One session and the last that was said."""

    async def change(
        self, name: str, *, title: str | None, paused: bool | None, archived: bool | None
    ) -> SessionAnswer:
        """Change what is given. Raises InvalidRequest."""

    async def delete(self, name: str) -> SessionDeletedAnswer:
        """Erase all that was said in it. Raises InvalidRequest while it works on something."""

    async def fork(self, name: str, before: int | None = None) -> ForkedAnswer:
        """A new session with what was said in this one, up to a place of it. Raises InvalidRequest."""


class Models(Protocol):
    """The models that callers may choose among."""

    def names(self) -> Sequence[str]:
        """The configured ones by their references and the owner's names for them, the usual one first."""

    def check(self, name: str, *, bare: bool = False) -> None:
        """Raises NotFound for a name that leads to no model that can be asked.

        The default server takes every name without a provider for one of its models: that is enough where `bare`.
        """

    def embedding(self, name: str = "") -> str:
        """The reference of the model that turns texts into vectors.

        Raises ModelError where there is none, NotFound if it is another than the name means.
        """

    async def embed(self, texts: Sequence[str], sender: SenderClass) -> Embeddings:
        """The vectors, within the limits of spending for this sender. Raises ModelError."""


class Operations(Protocol):
    """What the routes may set in motion; the commands reach the same."""

    @property
    def conversations(self) -> Conversations:
        """Sessions, for their owner."""

    async def stop(self, session: SessionKey, reason: str) -> bool:
        """End the turn that runs in a session; False if there was none."""

    async def wake(self, turn: TurnId) -> bool:
        """What a parked turn waits for is there; False if it does not wait."""

    async def stop_all(self, reason: str) -> int:
        """End every turn and command, and hold what is self-made until `lift`; how many ended."""

    async def lift(self) -> bool:
        """Let what is self-made go on; False where nothing was held."""

    async def retry(self, id: str) -> Mapping[str, Any]:
        """Bring back what failed or was quarantined. Raises NotFound."""

    async def cancel(self, id: str, reason: str) -> bool:
        """End what works on a message, or take it out of its queue; False if nothing was left to end."""

    async def retry_all(self, reason: str) -> Mapping[str, Any]:
        """Bring back every turn that failed for this reason, which is a code of an error."""

    async def status(self) -> Mapping[str, Any]:
        """How Hob is: `StatusAnswer`, and what features add to it."""

    def mode(self) -> str:
        """`remote` where other machines reach Hob, `full` where it is in chats too, else `standalone`."""

    def settings(self) -> Sequence[SettingAnswer]:
        """Every setting, with its value, its manual, and where the value comes from."""

    async def change_settings(self, values: Mapping[str, Any], by: str) -> Sequence[SettingAnswer]:
        """Change settings that may be changed while Hob runs, all or none; null takes a change back.

        The settings as they are then. Raises InvalidRequest.
        """

    async def usage(self, days: int, by: str) -> SpendingAnswer:
        """What was spent in the last days, told apart by day, model, session, sender or task; and each limit.

        Raises InvalidRequest.
        """

    async def probe_model(self, name: str, draft: str = "") -> TriedAnswer:
        """Ask a model for a word and for a call, within the limits of spending; as it would be with a draft."""

    async def prompt(self, session: str) -> PromptAnswer:
        """What the next request of a session would hold, in bytes and tokens by section."""

    async def undo(self, id: str, session: str, *, preview: bool) -> UndoneAnswer:
        """Put back what a turn changed in files, or show what that would change. Raises NotFound, InvalidRequest."""

    async def replay(self, id: str, model: str) -> ReplayAnswer:
        """What models were given in a turn, and what another one (if one is named) answers to it; nothing is executed.

        Raises NotFound, InvalidRequest.
        """

    async def metrics(self) -> Sequence[Metric]:
        """Figures for machines that watch."""

    async def erase(self, person: str, *, preview: bool) -> ErasedAnswer:
        """Forget a person, by id or address, or show what that would be. Raises NotFound, InvalidRequest."""

    def reload(self) -> ReloadedAnswer:
        """Read settings and secrets anew; what waits for the next start."""

    async def backup(self, file: Path) -> BackupAnswer:
        """Write a consistent copy of the database."""

    def accepting(self) -> bool:
        """Whether messages are taken; no more once Hob is shutting down."""

    def hand_over(self) -> None:
        """End after the work in hand, since a daemon wants the home. Raises NotAllowed in the daemon itself."""


@dataclass(frozen=True, slots=True)
class Api:
    """Everything the routes need."""

    accept: Accept
    store: Store
    hub: Hub
    operations: Operations
    settings: GatewaySettings
    clock: Clock
    keyring: Keyring
    people: PairingService
    pending_approvals: Callable[[], PendingApprovals]
    """Made when it is first needed."""
    models: Models
    mask: Callable[[str], str] = str
    """Takes known secrets out of what leaves."""
    refused: Callable[[str], None] = lambda who: None
    """Told where a call without the right token came from."""
    ports: Mapping[type, object] = field(default_factory=dict)
    """What features provide."""
    connected: Connected = field(default_factory=Connected)
    """The WebSockets that are open."""
    dashboard: str = ""
    """Where browsers reach it; empty where it does not listen."""
    views: Sequence[ViewAnswer] = ()
    """Pages that features have in the dashboard: `name`, `title` and what they `ask`."""
    login_codes: LoginCodes = field(default_factory=LoginCodes)
    """By which browsers are let in."""
    _kept: dict[type, object] = field(default_factory=dict)

    def port(self, kind: type[T]) -> T:
        """What a feature provides to its routes. Raises KeyError where none does."""
        return cast(T, self.ports[kind])

    def kept(self, kind: type[T]) -> T:
        """What routes remember for this run, made when it is first asked for."""
        if kind not in self._kept:
            self._kept[kind] = kind()
        return cast(T, self._kept[kind])
