"""The facts that security checks examine, and the form of their findings."""

from collections.abc import Mapping
from dataclasses import field

from hob.agent.budget.limits import SpendingSettings
from hob.core.values import dataclass
from hob.gateway.settings import GatewaySettings
from hob.gateway.webhooks.settings import Webhooks
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.screening.model_calls.settings import ImagePolicy, PromptGuardSettings, SanitizerSettings
from hob.guard.screening.scanner.settings import ScannerSettings
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.tools.sandbox.settings import SandboxSettings

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
class SecretFacts:
    """Secrets by the names of their settings, never their values."""

    plain: tuple[str, ...] = ()
    short: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    same: tuple[tuple[str, ...], ...] = ()
    """Groups of settings with the same secret."""
    in_environment: tuple[str, ...] = ()
    in_headers: tuple[str, ...] = ()
    token_length: int = 43
    """Characters of the API's token."""
    token_signs: int = 30
    """Different characters of the API's token."""


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """The sandbox that would confine commands now.

    Without a `name` there is none, and `missing` says why. `protects`: whether protected files cannot be changed.
    """

    name: str = "bubblewrap"
    protects: bool = True
    missing: str = ""


@dataclass(frozen=True, slots=True)
class SecurityFacts:
    """All facts of the security audit: the settings, and what was found on this machine."""

    files: FileFacts = field(default_factory=FileFacts)
    secrets: SecretFacts = field(default_factory=SecretFacts)
    backend: BackendFacts = field(default_factory=BackendFacts)
    plain_http: tuple[str, ...] = ()
    """Addresses of remote model servers without TLS."""
    plain_key: tuple[str, ...] = ()
    """Addresses of model servers in the private network that get a key without TLS."""
    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    webhooks: Webhooks = field(default_factory=Webhooks)
    spending: SpendingSettings = field(default_factory=lambda: SpendingSettings(monthly=100.0))
    prompt_guard: PromptGuardSettings = field(default_factory=PromptGuardSettings)
    sanitizer: SanitizerSettings = field(default_factory=lambda: SanitizerSettings(images=ImagePolicy.DEFUSE))
    sandbox: SandboxSettings = field(default_factory=SandboxSettings)
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
