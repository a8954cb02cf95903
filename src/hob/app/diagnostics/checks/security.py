"""What could be safer about this Hob: the checks of the security audit."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from ipaddress import ip_address
from pathlib import PurePath

from hob.app.diagnostics.check import Check, CheckResult, Mend, Severity
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.diagnostics.security_facts import tighten
from hob.app.diagnostics.security_values import (
    SENSIBLE,
    Found,
    SecurityFacts,
    Tightening,
    open_places,
    places_of,
    when,
)
from hob.core.translation.language import translatable
from hob.guard.screening.masking.known_secrets import is_secret_name


def security_check(
    id: str,
    severity: Severity,
    title: str,
    advice: str,
    find: Callable[[SecurityFacts], Iterable[Found]],
    read_only: str = "",
) -> Check:
    """One question. `find` gives what is wrong, `title` says what that means, `advice` what to do.

    `read_only` is said instead of a file that others may not change.
    """

    def look(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
        for each in find(diagnostics.security):
            where = each.path if isinstance(each, Tightening) else each
            fix = Mend(where, partial(tighten, each)) if isinstance(each, Tightening) else None
            readable = read_only and isinstance(each, Tightening) and not each.remove & _WRITE
            yield CheckResult(severity, read_only if readable else title, advice, where, fix)

    return Check(id, title, look, audit=True)


# Files: who else may read, change or take away what Hob keeps.

_SYNCED = ("dropbox", "onedrive", "google drive", "googledrive", "icloud", "mobile documents", "nextcloud", "owncloud",
           "syncthing", "sync", "pcloud", "box sync")  # fmt: skip
_READ = 0o077
_WRITE = 0o022


def _private(place: str, what: str, severity: Severity) -> Check:
    return security_check(
        f"fs.{place}_mode",
        severity,
        translatable("others on this machine may read or change {what}", what=what),
        "run `hob security audit --fix`",
        lambda facts: open_places(facts, place, _READ),
        translatable("others on this machine may read {what}", what=what),
    )


def _links(facts: SecurityFacts) -> list[str]:
    return [place.path for name in ("home", "config", "database", "secrets") for place in places_of(facts, name)
            if place.link]  # fmt: skip


def _foreign(facts: SecurityFacts) -> list[str]:
    return [place.path for place in facts.files.places.values() if not place.mine]


def _synced(facts: SecurityFacts) -> list[Found]:
    parts = [part.lower() for part in PurePath(facts.files.home).parts]
    return [part for part in parts if any(part == name or part.startswith(f"{name} ") for name in _SYNCED)]


def _lies_in(inner: str, outer: str) -> bool:
    return PurePath(inner).is_relative_to(outer)


FILES: tuple[Check, ...] = (
    _private("home", "Hob's home", Severity.CRITICAL),
    _private("config", "the settings", Severity.CRITICAL),
    _private("database", "the database: every conversation is in it", Severity.CRITICAL),
    _private("secrets", "the folder of secrets", Severity.CRITICAL),
    _private("secret", "a secret", Severity.CRITICAL),
    _private("reference", "a file that holds a secret of the settings", Severity.CRITICAL),
    _private("backups", "the folder of backups", Severity.WARN),
    _private("backup", "a backup: every conversation is in it", Severity.WARN),
    _private("logs", "the logs", Severity.WARN),
    _private("log", "a log", Severity.WARN),
    _private("blobs", "attachments and long outputs", Severity.WARN),
    _private("socket", "the socket: a program that reaches it acts as you", Severity.CRITICAL),
    _private("head", "the head of the audit log", Severity.WARN),
    security_check(
        "fs.workspace_writable", Severity.CRITICAL, "others may write what Hob takes for its instructions",
        "run `hob security audit --fix`", lambda facts: open_places(facts, "workspace", _WRITE),
    ),
    security_check(
        "fs.identity_writable", Severity.CRITICAL, "others may write this file, which Hob takes for its instructions",
        "run `hob security audit --fix`", lambda facts: open_places(facts, "identity", _WRITE),
    ),
    security_check(
        "fs.setuid", Severity.CRITICAL, "this runs with its owner's rights, no matter who starts it",
        "run `hob security audit --fix`, and find out where it came from",
        lambda facts: [Tightening(path, 0o6000) for path in facts.files.setuid],
    ),
    security_check(
        "fs.foreign_owner", Severity.CRITICAL, "this belongs to another user, who may change it at will",
        "make it yours: chown, or set HOB_HOME to a folder of your own", _foreign,
    ),
    security_check(
        "fs.symlink", Severity.INFO, "this is a link; what it leads to has permissions of its own",
        "put the file itself there, or accept this", _links,
    ),
    security_check(
        "fs.home_synced", Severity.WARN, "the home lies in a folder that is copied to somebody else's machines",
        "set HOB_HOME to a folder that is not synchronised; a database is also damaged by it", _synced,
    ),
    security_check(
        "fs.home_in_repository", Severity.WARN, "the home lies in a Git work tree and may be committed",
        "set HOB_HOME to a folder outside",
        lambda facts: when(bool(facts.files.repository), facts.files.repository),
    ),
    security_check(
        "fs.home_replaceable", Severity.CRITICAL, "others may replace this home by another one",
        "take from the folder above it the right of others to write",
        lambda facts: when(facts.files.parent_open, facts.files.home),
    ),
    security_check(
        "fs.home_in_workspace", Severity.CRITICAL, "the home lies in the workspace, where tools work",
        "move one of the two", lambda facts: when(_lies_in(facts.files.home, facts.files.workspace), facts.files.home),
    ),
    security_check(
        "fs.workspace_in_home", Severity.WARN, "the workspace lies in the home, which no tool may see",
        "set workspace.path to another folder",
        lambda facts: when(_lies_in(facts.files.workspace, facts.files.home), facts.files.workspace),
    ),
    security_check(
        "fs.workspace_too_wide", Severity.CRITICAL, "the workspace holds your whole home directory",
        "set workspace.path to a folder of its own",
        lambda facts: when(_lies_in(facts.files.user_home, facts.files.workspace), facts.files.workspace),
    ),
    security_check(
        "fs.running_as_root", Severity.WARN, "Hob runs as root, so a mistake reaches the whole machine",
        "run Hob as a user of its own, or in a container", lambda facts: when(facts.files.root, "root"),
    ),
    security_check(
        "fs.no_recent_backup", Severity.INFO, "there is no backup of the last thirty days in the home",
        "run `hob backup FILE`, or accept this if you keep them elsewhere",
        lambda facts: when(facts.files.backup_days is None or facts.files.backup_days > 30),
    ),
)  # fmt: skip


# Secrets, the API, and what models are told.

_LEAST_TOKEN = 24
_LEAST_SIGNS = 10


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _is_everywhere(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return host in {"", "*"}


def _is_served(facts: SecurityFacts) -> bool:
    return facts.gateway.port >= 0


def _is_plain(facts: SecurityFacts) -> bool:
    return not (facts.gateway.tls or _is_loopback(facts.gateway.host))


SECRETS: tuple[Check, ...] = (
    security_check(
        "gateway.bind_everywhere", Severity.CRITICAL, "the API listens on every network of this machine",
        "set gateway.host to 127.0.0.1, or to the address of a private network",
        lambda facts: when(_is_served(facts) and _is_everywhere(facts.gateway.host), facts.gateway.host),
    ),
    security_check(
        "gateway.bind_plain", Severity.WARN, "the API is reached from other machines without TLS: the token is seen",
        "set gateway.tls_cert; or put a proxy with TLS or a tunnel before it, and set gateway.host to 127.0.0.1",
        lambda facts: when(_is_served(facts) and _is_plain(facts), facts.gateway.host),
    ),
    security_check(
        "gateway.token_short", Severity.WARN,
        translatable("the API's token has fewer than {count} characters", count=_LEAST_TOKEN),
        "unset gateway.auth_token, and Hob makes a good one",
        lambda facts: when(_is_served(facts) and facts.gateway.token_length < _LEAST_TOKEN, "gateway.auth_token"),
    ),
    security_check(
        "gateway.token_plain", Severity.CRITICAL, "the API's token can be guessed",
        "unset gateway.auth_token, and Hob makes a good one",
        lambda facts: when(_is_served(facts) and facts.gateway.token_signs < _LEAST_SIGNS, "gateway.auth_token"),
    ),
    security_check(
        "secrets.plain_in_config", Severity.WARN, "the secret is in plain text in the settings",
        "refer to it: env:NAME, file:PATH, keyring:SERVICE/USER or command:PROGRAM",
        lambda facts: facts.secrets.plain,
    ),
    security_check(
        "secrets.plain_in_headers", Severity.WARN, "a header that is a key is in plain text in the settings",
        "use api_key of the provider instead of headers", lambda facts: facts.secrets.in_headers,
    ),
    security_check(
        "secrets.not_maskable", Severity.WARN, "the secret is too short or too plain to be masked in texts",
        "use one of at least 16 random characters", lambda facts: facts.secrets.short,
    ),
    security_check(
        "secrets.unreadable", Severity.WARN, "the reference leads to no secret",
        "see `hob config check`, and set what it names", lambda facts: facts.secrets.unreadable,
    ),
    security_check(
        "secrets.reused", Severity.WARN, "the same secret has more than one use, so anyone who learns one learns both",
        "give each its own", lambda facts: [" = ".join(names) for names in facts.secrets.same],
    ),
    security_check(
        "model.key_in_environment", Severity.INFO, "the key is in the environment, where other programs see it",
        "keep it in `secrets` and refer to it with file:, or accept this",
        lambda facts: facts.secrets.in_environment,
    ),
    security_check(
        "model.plain_http", Severity.CRITICAL, "a model elsewhere is asked without TLS: anybody between can read",
        "use https://", lambda facts: facts.model.plain_http,
    ),
    security_check(
        "model.key_over_http", Severity.WARN, "a model's key goes through your network without TLS",
        "use https://, or a server that needs no key", lambda facts: facts.model.plain_key,
    ),
    security_check(
        "model.secrets_told", Severity.WARN, "keys and passwords in messages go to models as they are",
        "set prompt_guard.secrets to redact, local or block",
        lambda facts: when(facts.model.secrets_action in {"off", "warn"}, facts.model.secrets_action),
    ),
    security_check(
        "model.no_limit", Severity.INFO, "nothing limits what may be spent in a day or a month",
        "set spending.daily or spending.monthly", lambda facts: when(not facts.model.limited),
    ),
    security_check(
        "limits.absurd", Severity.WARN, "the limit is so high that it stops nothing", "set it to what you would accept",
        lambda facts: [f"{key} = {value:g}" for key, value in facts.limits.items() if value > SENSIBLE[key]],
    ),
    security_check(
        "model.strangers_spend", Severity.WARN, "strangers may write, and nothing limits what they spend",
        "set spending.senders.stranger.daily",
        lambda facts: when(_strangers(facts) and not facts.model.strangers_limited),
    ),
    security_check(
        "model.images_elsewhere", Severity.INFO, "a picture in an answer may carry what it says to any host",
        "set sanitizer.images to defuse where answers are shown in a browser or a chat that loads pictures",
        lambda facts: when(facts.model.images == "keep", "sanitizer.images = keep"),
    ),
)  # fmt: skip


def _strangers(facts: SecurityFacts) -> bool:
    admission = facts.admission
    each = (admission.dm_policy, *(channel.dm_policy for channel in admission.channels.values()))
    return "open" in each or admission.group_strangers or any(entry.endswith(":*") for entry in admission.allow)


# What may be done without being asked, by whom, and who may answer.

_NAMELESS = frozenset({"email", "mail", "sms", "webhook"})
_WEEK = 7 * 86_400


def _loose_lists(facts: SecurityFacts) -> list[str]:
    """Lists that let somebody other than the owner use everything by name."""
    senders = facts.policy.senders
    return [f"policy.senders.{name}" for name, rules in senders.items() if name != "owner" and "*" in rules.allow]


def _may_configure(facts: SecurityFacts) -> bool:
    rules = facts.policy.subagents
    return "group:configuration" not in rules.deny and "*" not in rules.deny and not rules.allow


PERMISSION: tuple[Check, ...] = (
    security_check(
        "policy.full_and_autonomous", Severity.CRITICAL, "nothing needs your approval before it is done",
        "set policy.mode to guarded or policy.autonomy to cautious",
        lambda facts: when(facts.policy.mode == "full" and facts.policy.autonomy == "autonomous"),
    ),
    security_check(
        "policy.mode_full", Severity.WARN, "sessions begin with every permission there is",
        "set policy.mode to guarded, and choose more in the session that needs it",
        lambda facts: when(facts.policy.mode == "full" and facts.policy.autonomy != "autonomous"),
    ),
    security_check(
        "policy.autonomous", Severity.WARN, "sessions begin without asking",
        "set policy.autonomy to cautious, and choose more in the session that needs it",
        lambda facts: when(facts.policy.autonomy == "autonomous" and facts.policy.mode != "full"),
    ),
    security_check(
        "policy.members_read_private", Severity.WARN, "people you let in are told what is yours",
        "set policy.member_private to ask or deny", lambda facts: when(facts.policy.member_private == "allow"),
    ),
    security_check(
        "policy.everything_for_others", Severity.WARN, "a list allows others every tool",
        "name the tools instead of *", _loose_lists,
    ),
    security_check(
        "policy.agents_configure", Severity.CRITICAL, "agents that an agent has started may change the settings",
        "put group:configuration into policy.subagents.deny",
        lambda facts: when(_may_configure(facts)),
    ),
    security_check(
        "policy.deep_agents", Severity.WARN, "agents may start agents many levels deep",
        "set policy.depth to 2 or less", lambda facts: when(facts.policy.depth > 3),
    ),
    security_check(
        "approvals.nameless_channel", Severity.CRITICAL, "an answer is taken from where a sender's name proves nothing",
        "take it out of approvals.channels",
        lambda facts: [name for name in facts.approvals.channels if name.partition("@")[0] in _NAMELESS],
    ),
    security_check(
        "approvals.unproven_channel", Severity.CRITICAL, "a channel counts as proof of who you are and as none",
        "take it out of approvals.channels or of admission.unauthenticated",
        lambda facts: [
            name for name in facts.approvals.channels
            if name in facts.admission.unauthenticated and name.partition("@")[0] not in _NAMELESS
        ],
    ),
    security_check(
        "approvals.long", Severity.INFO, "a question stays open for more than a week",
        "set approvals.seconds to a day", lambda facts: when(facts.approvals.seconds > _WEEK),
    ),
    security_check(
        "approvals.stale", Severity.WARN, "an approval may be used a day after you gave it",
        "set approvals.use_seconds to an hour", lambda facts: when(facts.approvals.use_seconds > 86_400),
    ),
)  # fmt: skip


# Where commands run and what they reach from there.

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
        "install bubblewrap (Debian, Ubuntu: apt install bubblewrap; Fedora: dnf install bubblewrap)",
        lambda facts: when(facts.sandbox.backend != "plain" and not facts.sandbox.found, facts.sandbox.missing),
    ),
    security_check(
        "sandbox.second_best", Severity.WARN,
        "commands are confined by Landlock alone: git hooks are not closed to them, they see other processes",
        "install bubblewrap", lambda facts: when(facts.sandbox.found == "landlock"),
    ),
    security_check(
        "sandbox.old_bubblewrap", Severity.WARN, "this bubblewrap takes folders by their paths, which can be swapped",
        "install bubblewrap 0.10 or newer",
        lambda facts: when(facts.sandbox.found == "bubblewrap" and not facts.sandbox.protects),
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


# Who may write to Hob, and what becomes of what they write.

_UNPROVEN = ("email", "sms", "webhook")


def _with(facts: SecurityFacts, key: str, value: object) -> list[str]:
    """Where this is set to that: everywhere, or on some channel."""
    admission = facts.admission
    general = [f"admission.{key}"] if getattr(admission, key) == value else []
    each = [f"admission.channels.{name}" for name, own in admission.channels.items() if getattr(own, key) == value]
    return general + each


CHANNELS: tuple[Check, ...] = (
    security_check(
        "channels.open_dm", Severity.WARN, "anybody may write to Hob directly",
        "set dm_policy to pairing", lambda facts: _with(facts, "dm_policy", "open"),
    ),
    security_check(
        "channels.open_groups", Severity.WARN, "Hob answers in every group it is put into",
        "set group_policy to allowlist and name the groups", lambda facts: _with(facts, "group_policy", "open"),
    ),
    security_check(
        "channels.everybody_allowed", Severity.WARN, "everybody on this channel comes in as a stranger",
        "name people instead of *",
        lambda facts: [entry for entry in facts.admission.allow if entry.endswith(":*")],
    ),
    security_check(
        "channels.group_strangers", Severity.WARN, "unknown people in groups are answered",
        "set admission.group_strangers to false", lambda facts: when(facts.admission.group_strangers),
    ),
    security_check(
        "channels.unmentioned", Severity.INFO, "in groups Hob reads and answers what is not meant for it",
        "set admission.mention to true",
        lambda facts: [
            place for place in _with(facts, "mention", False)
            if facts.admission.groups or "open" in _policies(facts)
        ],
    ),
    security_check(
        "channels.passphrase_plain", Severity.INFO, "anyone who learns one word is let in",
        "unset admission.passphrase and link people instead",
        lambda facts: when(facts.admission.passphrase is not None, "admission.passphrase"),
    ),
    security_check(
        "channels.passphrase_long", Severity.WARN, "a passphrase lets somebody in for more than a week",
        "set admission.passphrase_hours to 12",
        lambda facts: when(facts.admission.passphrase is not None and facts.admission.passphrase_hours > 168),
    ),
    security_check(
        "channels.names_believed", Severity.CRITICAL, "a sender's name is believed where anybody can write any name",
        "put it back into admission.unauthenticated",
        lambda facts: [name for name in _UNPROVEN if name not in facts.admission.unauthenticated],
    ),
    security_check(
        "channels.webhook_owner", Severity.WARN, "anyone who has this webhook's secret counts as you, and Hob may act",
        "set sender of the webhook to stranger or member", lambda facts: facts.gateway.owner_webhooks,
    ),
    security_check(
        "channels.many_messages", Severity.INFO, "one sender may write more than a message every half second",
        "set admission.messages_per_minute to 30", lambda facts: when(facts.admission.messages_per_minute > 120),
    ),
    security_check(
        "channels.many_strangers", Severity.WARN, "strangers may keep Hob busy all the time",
        "set admission.strangers_per_minute to 20", lambda facts: when(facts.admission.strangers_per_minute > 120),
    ),
    security_check(
        "channels.many_mails", Severity.WARN, "one sender may make Hob send more than ten mails a minute",
        "set admission.limits.apps.mail to 3", lambda facts: when(_mails(facts) > 10, f"{_mails(facts)} a minute"),
    ),
    security_check(
        "channels.no_cooldown", Severity.WARN, "many actions at once do not make Hob pause",
        "set admission.limits.spike to 10 and cooldown_seconds to 300",
        lambda facts: when(facts.admission.limits.spike > 60 or facts.admission.limits.cooldown_seconds < 60),
    ),
    security_check(
        "channels.any_file", Severity.INFO, "files of every kind are taken",
        "name the kinds in admission.attachment_types",
        lambda facts: when("*/*" in facts.admission.attachment_types or "*" in facts.admission.attachment_types),
    ),
    security_check(
        "scanner.strangers_pass", Severity.WARN, "what strangers write is read even if it looks like an attack",
        "set scanner.stranger to block", lambda facts: when(facts.scanner.stranger != "block", facts.scanner.stranger),
    ),
    security_check(
        "scanner.members_unseen", Severity.INFO, "what people you let in write is not looked at",
        "set scanner.member to flag", lambda facts: when(facts.scanner.member == "none"),
    ),
    security_check(
        "scanner.blunt", Severity.WARN, "hardly anything looks like an attack to the scanner",
        "set scanner.threshold to 1",
        lambda facts: when(facts.scanner.threshold > 3, f"scanner.threshold = {facts.scanner.threshold:g}"),
    ),
)  # fmt: skip


def _policies(facts: SecurityFacts) -> list[str]:
    admission = facts.admission
    return [admission.group_policy, *(own.group_policy for own in admission.channels.values())]


def _mails(facts: SecurityFacts) -> int:
    limits = facts.admission.limits
    return limits.apps.get("mail", limits.per_minute)


AUDIT: tuple[Check, ...] = (*FILES, *SECRETS, *PERMISSION, *SANDBOX, *CHANNELS)
"""All of them, in the order in which they are told."""
