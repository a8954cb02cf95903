"""Security checks of the sandbox: where commands run and what they can reach."""

from pathlib import PurePath

from hob.app.diagnostics.check import Check, Severity
from hob.app.diagnostics.checks.security.check import security_check
from hob.app.diagnostics.security_values import (
    SecurityFacts,
    when,
)
from hob.guard.screening.masking.known_secrets import is_secret_name

_SYSTEM = ("/", "/etc", "/usr", "/bin", "/sbin", "/lib", "/boot", "/dev", "/proc", "/sys", "/root", "/var", "/run")
_DELICATE = (".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".config/gcloud", ".password-store", ".mozilla",
             ".netrc", ".config/gh", ".local/share/keyrings", ".git-credentials", "Library/Keychains")  # fmt: skip
_SOCKETS = ("docker.sock", "podman.sock", "containerd.sock", "hob.sock", "ssh-agent", "gnupg", "bus", "wayland-0")
_STEERING = frozenset({"LD_PRELOAD", "LD_LIBRARY_PATH", "PYTHONPATH", "NODE_OPTIONS", "BASH_ENV", "GIT_SSH_COMMAND",
                       "SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"})  # fmt: skip


def _delicate(facts: SecurityFacts) -> list[str]:
    home = PurePath(facts.files.user_home)
    places = [home, *(home / name for name in _DELICATE)]
    given = (*facts.sandbox.read, *facts.sandbox.write)
    return [path for path in given if any(each.is_relative_to(path) for each in places) or _is_below(path, places[1:])]


def _is_below(path: str, places: list[PurePath]) -> bool:
    return any(PurePath(path).is_relative_to(place) for place in places)


def _inside_home(facts: SecurityFacts) -> list[str]:
    given = (*facts.sandbox.read, *facts.sandbox.write)
    home = facts.files.home
    return [path for path in given if PurePath(home).is_relative_to(path) or PurePath(path).is_relative_to(home)]


def _system(facts: SecurityFacts) -> list[str]:
    return [path for path in facts.sandbox.write if str(PurePath(path)) in _SYSTEM]


def _sockets(facts: SecurityFacts) -> list[str]:
    given = (*facts.sandbox.read, *facts.sandbox.write)
    return [path for path in given if PurePath(path).name in _SOCKETS or str(PurePath(path)).startswith("/run/user")]


def _wide_hosts(facts: SecurityFacts) -> list[str]:
    return [host for host in facts.sandbox.hosts if host.startswith("*.") and host.count(".") < 2]


def _unpinned(facts: SecurityFacts) -> bool:
    image = facts.sandbox.image
    tag = image.rpartition("/")[2].partition(":")[2]
    return bool(image) and "@sha256:" not in image and tag in {"", "latest"}


SANDBOX: tuple[Check, ...] = (
    security_check(
        "sandbox.plain", Severity.CRITICAL, "commands run without a sandbox",
        "set sandbox.backend to auto", lambda facts: when(facts.sandbox.backend == "plain", "sandbox.backend = plain"),
    ),
    security_check(
        "sandbox.none_found", Severity.WARN, "nothing here can confine commands, so Hob runs none",
        "mend that, or set sandbox.backend to auto and install bubblewrap (Debian, Ubuntu: apt install bubblewrap; "
        "Fedora: dnf install bubblewrap)",
        lambda facts: when(facts.sandbox.backend != "plain" and not facts.backend.name, facts.backend.missing),
    ),
    security_check(
        "sandbox.second_best", Severity.WARN,
        "commands are confined by Landlock alone: git hooks are not closed to them, they see other processes",
        "install bubblewrap", lambda facts: when(facts.backend.name == "landlock"),
    ),
    security_check(
        "sandbox.old_bubblewrap", Severity.WARN, "this bubblewrap takes folders by their paths, which can be swapped",
        "install bubblewrap 0.10 or newer",
        lambda facts: when(facts.backend.name == "bubblewrap" and not facts.backend.protects),
    ),
    security_check(
        "sandbox.any_host", Severity.CRITICAL, "commands reach every host, so they can send everything they see",
        "name the hosts in sandbox.hosts", lambda facts: when("*" in facts.sandbox.hosts, "sandbox.hosts has *"),
    ),
    security_check(
        "sandbox.wide_hosts", Severity.WARN, "commands reach all hosts of a whole domain of others",
        "name the hosts in sandbox.hosts", _wide_hosts,
    ),
    security_check(
        "sandbox.reaches_own_keys", Severity.CRITICAL, "commands see keys and passwords of yours",
        "take it out of sandbox.read and sandbox.write, or name a folder below it", _delicate,
    ),
    security_check(
        "sandbox.reaches_home", Severity.CRITICAL, "commands see Hob's own home",
        "take it out of sandbox.read and sandbox.write", _inside_home,
    ),
    security_check(
        "sandbox.changes_system", Severity.CRITICAL, "commands may change the system itself",
        "take it out of sandbox.write", _system,
    ),
    security_check(
        "sandbox.sockets", Severity.CRITICAL, "commands reach a socket that leads out of the sandbox",
        "take it out of sandbox.read and sandbox.write", _sockets,
    ),
    security_check(
        "sandbox.secret_variables", Severity.WARN, "commands see a variable that holds a secret",
        "take it out of sandbox.environment",
        lambda facts: [name for name in facts.sandbox.environment if is_secret_name(name)],
    ),
    security_check(
        "sandbox.steering_variables", Severity.WARN, "commands see a variable that leads out or loads other code",
        "take it out of sandbox.environment",
        lambda facts: [name for name in facts.sandbox.environment if name in _STEERING],
    ),
    security_check(
        "sandbox.hooks_unprotected", Severity.WARN, "commands may write Git hooks, which you then run outside",
        "put .git/hooks/ and .git/config into sandbox.protected",
        lambda facts: [name for name in (".git/hooks/", ".git/config") if name not in facts.sandbox.protected],
    ),
    security_check(
        "sandbox.image_unpinned", Severity.INFO, "the image is another one whenever its publisher wants",
        "name a tag, better a digest, in sandbox.image", lambda facts: when(_unpinned(facts), facts.sandbox.image),
    ),
)  # fmt: skip
