"""The owner's administration: the port behind the routes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NotRequired, Protocol, TypedDict

from hob.core.values import dataclass
from hob.gateway.http.fields import field


class LogLineAnswer(TypedDict):
    """A line of the log."""

    time: str
    level: str
    logger: str
    trace: str | None
    text: str


class FindingAnswer(TypedDict):
    """A finding of the doctor.

    severity: `critical`, `warn` or `info`
    """

    id: str
    severity: str
    title: str
    advice: str
    where: str


class SkippedAnswer(TypedDict):
    """A check that could not run."""

    id: str
    reason: str


class DoctorAnswer(TypedDict):
    """The findings of the doctor.

    at: the time of the check, in Unix seconds
    """

    at: float
    checks: int
    findings: list[FindingAnswer]
    skipped: list[SkippedAnswer]


class ChannelAnswer(TypedDict):
    """A running channel.

    text_limit: maximum characters of one message; 0 if unknown
    """

    name: str
    account: str
    text_limit: int
    undelivered: int


class PluginAnswer(TypedDict):
    """A plug-in."""

    name: str
    package: str
    version: str
    on: bool
    declares: list[str]
    commands: list[str]


class SecretAnswer(TypedDict):
    """Where a secret is stored, never its value.

    key: the setting that uses it
    about: what that setting is for
    reference: e.g. `env:NAME`, `file:NAME` or `keyring:NAME`; null if the settings hold the secret itself
    problem: why it cannot be read; empty if it can, and for commands and keyrings, which are not read here
    changed: when its file was last changed
    """

    key: str
    about: str
    reference: str | None
    problem: str
    changed: float | None


class CredentialAnswer(TypedDict):
    """A secret that commands can use at one host but never see.

    variable: the environment variable with its placeholder
    agents: who may use it
    """

    name: str
    host: str
    header: str
    variable: str
    agents: list[str]
    per_minute: int


class SandboxAnswer(TypedDict):
    """The sandbox of commands and its limits.

    backend: the configured one
    found: the one in use; empty if no command can run
    confines: whether commands are confined
    reason: why this one is used
    advice: what is needed, or would be better
    hosts: hosts that commands may reach
    """

    backend: str
    found: str
    confines: bool
    reason: str
    advice: str
    work: str
    hosts: list[str]
    read: list[str]
    write: list[str]
    outgoing: list[str]
    protected: list[str]
    toolchains: list[str]
    environment: list[str]
    credentials: list[CredentialAnswer]


class TriedAnswer(TypedDict):
    """The result of probing a model.

    tools: whether it calls tools
    trouble: why the probe failed
    first: seconds to the first piece
    cost: in micro-dollars
    """

    model: str
    ok: bool
    tools: bool | None
    trouble: str
    first: NotRequired[float]
    seconds: NotRequired[float]
    cost: NotRequired[int | None]
    answer: NotRequired[str]


class ConnectedAnswer(TypedDict):
    """The result of connecting a model.

    tools: whether it calls tools
    trouble: why it cannot be used
    kept: whether it was saved, and is used from now on
    """

    model: str
    ok: bool
    tools: bool | None
    trouble: str
    kept: bool


@dataclass(frozen=True, slots=True)
class LogsQuery:
    """The log lines to show."""

    level: str = field("minimum level", "info", one_of=("debug", "info", "warning", "error", "critical"))
    text: str = field("only lines that contain this", "", characters=(0, 200))
    trace_id: str = field("only lines of this trace", "", characters=(0, 64))
    limit: int = field("maximum number, the newest", 200, at_least=1, at_most=2000)


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """A model to connect."""

    provider: str = field("the provider, e.g. `anthropic`; `server`: your own server", characters=(1, 80))
    base_url: str = field("the address of your own server", "", characters=(0, 500))
    key: str = field("its key; stored privately, and only if the model answers", "", characters=(0, 500))
    model: str = field("the model; without one, the provider's default or the server's first", "", characters=(0, 300))
    anyway: bool = field("also accept one that answers but calls no tools", False)


Probe = Callable[[str, str], Awaitable[TriedAnswer]]
"""Probes a model by name, with a draft of its settings."""


class IdentityFileAnswer(TypedDict):
    """An identity file.

    hash: the SHA-256 of its content
    accepted: whether its current content is trusted
    problem: why it cannot be accepted here; empty if it can
    diff: the changes since it was accepted, as a patch; the whole text if that version is not kept
    kept: whether the accepted version can be restored
    """

    name: str
    hash: str
    accepted: bool
    problem: str
    diff: str
    kept: bool


class IdentityFilesAnswer(TypedDict):
    """The identity files."""

    folder: str
    files: list[IdentityFileAnswer]


class Administration(Protocol):
    """Shows the owner log, health, channels and plug-ins, and connects models."""

    async def logs(self, criteria: LogsQuery) -> Sequence[LogLineAnswer]:
        """Return lines of the log, newest last."""

    async def examine(self, *, online: bool, refresh: bool) -> DoctorAnswer:
        """Return the doctor's recent findings. `refresh` examines again, `online` contacts model servers too."""

    async def channels(self) -> Sequence[ChannelAnswer]:
        """Return the running channels, each with its number of undelivered messages."""

    async def plugins(self) -> Sequence[PluginAnswer]:
        """Return the installed plug-ins."""

    async def secrets(self) -> Sequence[SecretAnswer]:
        """Return the secrets in the settings and where they are stored, never their values."""

    async def sandbox(self) -> SandboxAnswer:
        """Return the sandbox of commands and its limits. Starts a process."""

    async def identity(self) -> IdentityFilesAnswer:
        """Return the identity files, each with its changes since acceptance."""

    async def settle_identity(self, name: str, hash_: str, *, accept: bool) -> IdentityFilesAnswer:
        """Accept a file as it was shown, or restore the accepted version. Raises NotFound, InvalidRequest."""

    async def connect(self, new_model: ModelConnection, probe: Probe) -> ConnectedAnswer:
        """Probe the model, and save it if it answers. Raises InvalidRequest for settings that cannot be tried."""
