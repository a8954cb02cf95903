"""The facts that security checks examine, and the form of their findings."""

from collections.abc import Mapping
from dataclasses import field

from hob.core.values import dataclass
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.screening.scanner.settings import ScannerSettings
from hob.guard.settings import ApprovalSettings, PolicySettings

# The defaults describe a Hob without findings.

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
"""Limits, each with the highest value that is still effective."""


@dataclass(frozen=True, slots=True)
class PlaceFacts:
    """An existing file or folder: its permission bits, whether it belongs to this user, and whether it is a link."""

    path: str
    mode: int
    mine: bool = True
    link: bool = False


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The locations of files. `places` are keyed by role, numbered if there are several: `secret.2`."""

    places: Mapping[str, PlaceFacts] = field(default_factory=dict)
    home: str = "/home/me/.hob"
    workspace: str = "/home/me/hob"
    user_home: str = "/home/me"
    root: bool = False
    parent_open: bool = False
    """Whether other users may rename entries of the folder that contains the home."""
    repository: str = ""
    """The Git work tree that contains the home."""
    setuid: tuple[str, ...] = ()
    """Files in the workspace with setuid or setgid bits."""
    backup_days: float | None = 0.0
    """Age of the newest backup in days; None if there is data to lose but no backup."""


@dataclass(frozen=True, slots=True)
class GatewayFacts:
    """The API over TCP. Only the strength of the token, never the token."""

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
    """Groups of settings with the same secret."""
    in_environment: tuple[str, ...] = ()
    in_headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """The models that are used, and what they may be sent."""

    plain_http: tuple[str, ...] = ()
    """Addresses of remote servers without TLS."""
    plain_key: tuple[str, ...] = ()
    """Addresses in the private network that get a key without TLS."""
    secrets_action: str = "redact"
    limited: bool = True
    strangers_limited: bool = True
    images: str = "defuse"


@dataclass(frozen=True, slots=True)
class SandboxFacts:
    """The sandbox of commands. `found` is the backend that would be used now, or empty; `protects`: whether it keeps
    protected files from being changed; `missing`: why there is none.
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
    """All facts of the security audit."""

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
    """The configured values of the limits in `SENSIBLE`."""


@dataclass(frozen=True, slots=True)
class PermissionFix:
    """Permission bits to remove; none is ever added."""

    path: str
    remove: int


Found = str | PermissionFix
"""A check's finding: a name or value, or a file with excess permission bits."""


def when(wrong: bool, what: str = "") -> tuple[str, ...]:
    """Return a finding if `wrong`."""
    return (what,) if wrong else ()


def open_places(facts: SecurityFacts, name: str, bits: int = 0o077) -> list[PermissionFix]:
    """Return the places of this name with any of these permission bits. Links have no bits of their own."""
    return [
        PermissionFix(place.path, place.mode & bits)
        for place in places_of(facts, name)
        if place.mode & bits and not place.link
    ]


def places_of(facts: SecurityFacts, name: str) -> list[PlaceFacts]:
    """Return the places of this name."""
    return [place for key, place in facts.files.places.items() if key.partition(".")[0] == name]
