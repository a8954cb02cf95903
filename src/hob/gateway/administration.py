"""Administration, for the owner: the port behind the routes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, NotRequired, Protocol, TypedDict

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
    """Something that is wrong.

    severity: `critical`, `warn` or `info`
    """

    id: str
    severity: str
    title: str
    advice: str
    where: str


class SkippedAnswer(TypedDict):
    """A check that could not be made."""

    id: str
    reason: str


class DoctorAnswer(TypedDict):
    """What is wrong.

    at: when was looked, in seconds since 1970
    """

    at: float
    checks: int
    findings: list[FindingAnswer]
    skipped: list[SkippedAnswer]


class ChannelAnswer(TypedDict):
    """A channel that runs.

    text_limit: most characters of one message; 0: not known
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
    """A secret by where it is kept; never itself.

    key: the setting that uses it
    about: what that setting is for
    reference: as `env:NAME`, `file:NAME` or `keyring:NAME`; null where it stands in the settings itself
    problem: why it cannot be read; empty where it can, and for those that are not read only to look
    changed: when its file was
    """

    key: str
    about: str
    reference: str | None
    problem: str
    changed: float | None


class CredentialAnswer(TypedDict):
    """A secret that commands use at one host and never hold.

    variable: in which they find a placeholder for it
    agents: who may use it
    """

    name: str
    host: str
    header: str
    variable: str
    agents: list[str]
    per_minute: int


class SandboxAnswer(TypedDict):
    """Where commands run, and what they may.

    backend: as it is set
    found: what confines them; empty where no command can run
    confines: whether anything does
    reason: why it is this one
    advice: what would make it better, or is needed
    hosts: that they may reach
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
    """What came of trying a model.

    tools: whether it calls tools
    trouble: why not
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
    """What came of connecting a model.

    tools: whether it calls tools
    trouble: why not
    kept: it is written down, and asked from now on
    """

    model: str
    ok: bool
    tools: bool | None
    trouble: str
    kept: bool


@dataclass(frozen=True, slots=True)
class LogsQuery:
    """Which lines are shown."""

    level: str = field("at least that weighty", "info", one_of=("debug", "info", "warning", "error", "critical"))
    text: str = field("those that hold this", "", characters=(0, 200))
    trace_id: str = field("those of this trace", "", characters=(0, 64))
    limit: int = field("at most so many, the newest", 200, at_least=1, at_most=2000)


@dataclass(frozen=True, slots=True)
class ModelConnection:
    """A model that is to be connected."""

    provider: str = field("who runs it, as `anthropic`; `server`: a server of one's own", characters=(1, 80))
    base_url: str = field("the address of a server of one's own", "", characters=(0, 500))
    key: str = field("its key; kept for the owner alone, and only if the model answers", "", characters=(0, 500))
    model: str = field("the model; without it the usual one, or the server's first", "", characters=(0, 300))
    anyway: bool = field("take one too that answers but calls no tools", False)


Probe = Callable[[str, str], Awaitable[TriedAnswer]]
"""Asks a model of this name with a draft for a word and a tool call."""


class IdentityFileAnswer(TypedDict):
    """A file that says who Hob is and how it works.

    hash: the SHA-256 of what stands in it
    accepted: whether it is followed as it stands
    problem: why it cannot be accepted here; empty: nothing
    diff: what was changed since it was accepted, as a patch; all of it where that is not kept
    kept: whether what was accepted before can be put back
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
    """Looks at log, health, channels and plug-ins; connects models."""

    async def logs(self, criteria: LogsQuery) -> Sequence[LogLineAnswer]:
        """Lines of the log, the newest last."""

    async def examine(self, *, online: bool, refresh: bool) -> DoctorAnswer:
        """What `hob doctor` found in the last minutes, or with `refresh` finds now; `online`: models were asked too."""

    async def channels(self) -> Sequence[ChannelAnswer]:
        """The channels that run, and what each still owes."""

    async def plugins(self) -> Sequence[PluginAnswer]:
        """The plug-ins that are installed here."""

    async def secrets(self) -> Sequence[SecretAnswer]:
        """The secrets that the settings name, with where they are kept; never what they are."""

    async def sandbox(self) -> SandboxAnswer:
        """Where commands run now, and what they may. Starts a process."""

    async def identity(self) -> IdentityFilesAnswer:
        """The identity files, each with what became of it since it was accepted."""

    async def settle_identity(self, name: str, hash_: str, *, accept: bool) -> IdentityFilesAnswer:
        """Follow a file as it was shown, or put back what was accepted before. Raises NotFound, InvalidRequest."""

    async def connect(self, new_model: ModelConnection, probe: Probe) -> ConnectedAnswer:
        """Try the model, and keep it if it answers; what came of it. Raises InvalidRequest for what cannot be tried."""


class LazyAdministration(NamedTuple):
    """Leads to it; loaded when somebody looks."""

    get: Callable[[], Administration]
