"""What the security checks look at, as values, and what they find in them."""

from collections.abc import Mapping
from dataclasses import field

from hob.core.values import dataclass
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.screening.scanner.settings import ScannerSettings
from hob.guard.settings import ApprovalSettings, PolicySettings

# What the checks look at. The defaults are those of a Hob about which there is nothing to say.

SENSIBLE: Mapping[str, float] = {
    "spending.daily": 1_000,
    "spending.monthly": 10_000,
    "spending.per_session": 10_000,
    "spending.per_turn": 500,
    "agent.run_seconds": 7 * 86_400,
    "admission.attachments": 1_000,
    "admission.attachment_bytes": 1 << 30,
    "admission.limits.per_minute": 600,
    "gateway.body_bytes": 1 << 30,
    "sandbox.processes": 100_000,
    "sandbox.open_files": 1_000_000,
    "sandbox.output_mib": 16_384,
}
"""Limits, each with the most that still is one."""


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """A file or folder that is there: its permission bits, whether it is this user's, whether it is a link."""

    path: str
    mode: int
    mine: bool = True
    link: bool = False


@dataclass(frozen=True, slots=True)
class FileFacts:
    """Where things lie. `places` by what they are; those with several files have a number behind: `secret.2`."""

    places: Mapping[str, PlaceFacts] = field(default_factory=dict)
    home: str = "/home/me/.hob"
    workspace: str = "/home/me/hob"
    user_home: str = "/home/me"
    root: bool = False
    parent_open: bool = False
    """Whether others may rename what lies beside the home."""
    repository: str = ""
    """The Git work tree the home lies in."""
    setuid: tuple[str, ...] = ()
    """Programs in the workspace that run with their owner's rights, no matter who starts them."""
    backup_days: float | None = 0.0
    """Age of the newest backup; None where there is none and something to lose."""


@dataclass(frozen=True, slots=True)
class GatewayFacts:
    """The API over TCP. The token's strength only, never the token."""

    host: str = "127.0.0.1"
    port: int = 18790
    token_length: int = 43
    token_signs: int = 30
    tls: bool = False
    owner_webhooks: tuple[str, ...] = ()
    """Webhooks whose senders count as the owner."""


@dataclass(frozen=True, slots=True)
class SecretFacts:
    """Secrets by the names of their settings, never their values."""

    plain: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    same: tuple[tuple[str, ...], ...] = ()
    """Settings that hold one and the same secret."""
    in_environment: tuple[str, ...] = ()
    in_headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """Who is asked, and what they may be told."""

    plain_http: tuple[str, ...] = ()
    """Addresses of servers elsewhere without TLS."""
    plain_key: tuple[str, ...] = ()
    """Addresses in the private network that are sent a key without TLS."""
    secrets_action: str = "redact"
    limited: bool = True
    strangers_limited: bool = True
    images: str = "defuse"


@dataclass(frozen=True, slots=True)
class SandboxFacts:
    """Where commands run. `found` is what would be taken now: bubblewrap, landlock, ..., or nothing; `protects` tells
    whether it keeps from commands what is protected in folders that they may change, `missing` why nothing would.
    """

    backend: str = "auto"
    found: str = "bubblewrap"
    protects: bool = True
    missing: str = ""
    hosts: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    protected: tuple[str, ...] = (".git/hooks/", ".git/config")
    image: str = ""


@dataclass(frozen=True, slots=True)
class SecurityFacts:
    """All of it."""

    files: FileFacts = field(default_factory=FileFacts)
    gateway: GatewayFacts = field(default_factory=GatewayFacts)
    secrets: SecretFacts = field(default_factory=SecretFacts)
    model: ModelFacts = field(default_factory=ModelFacts)
    sandbox: SandboxFacts = field(default_factory=SandboxFacts)
    policy: PolicySettings = field(default_factory=PolicySettings)
    approvals: ApprovalSettings = field(default_factory=ApprovalSettings)
    admission: AdmissionSettings = field(default_factory=AdmissionSettings)
    scanner: ScannerSettings = field(default_factory=ScannerSettings)
    limits: Mapping[str, float] = field(default_factory=dict)
    """The limits of `SENSIBLE`, by their keys, as they are set."""


@dataclass(frozen=True, slots=True)
class PermissionFix:
    """Permission bits to take away; nothing is ever given."""

    path: str
    remove: int


Found = str | PermissionFix
"""What a check has found: a name or value, or a file with the bits that are too many."""


def when(wrong: bool, what: str = "") -> tuple[str, ...]:
    """A finding if something is wrong."""
    return (what,) if wrong else ()


def open_places(facts: SecurityFacts, name: str, bits: int = 0o077) -> list[PermissionFix]:
    """The places of this name whose permissions have these bits. A link has none of its own."""
    return [
        PermissionFix(place.path, place.mode & bits)
        for place in places_of(facts, name)
        if place.mode & bits and not place.link
    ]


def places_of(facts: SecurityFacts, name: str) -> list[PlaceFacts]:
    """The places of this name, one or several."""
    return [place for key, place in facts.files.places.items() if key.partition(".")[0] == name]
