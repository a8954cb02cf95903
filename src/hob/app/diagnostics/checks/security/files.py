"""Security checks of files: who else may read, change or replace Hob's files."""

from pathlib import PurePath

from hob.app.diagnostics.check import Check, Severity
from hob.app.diagnostics.checks.security.check import OTHERS_WRITE, security_check
from hob.app.diagnostics.security_values import (
    Found,
    PermissionFix,
    SecurityFacts,
    open_places,
    places_of,
    when,
)
from hob.core.translation.language import translatable

_SYNCED = ("dropbox", "onedrive", "google drive", "googledrive", "icloud", "mobile documents", "nextcloud", "owncloud",
           "syncthing", "sync", "pcloud", "box sync")  # fmt: skip
_READ = 0o077


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
        "run `hob security audit --fix`", lambda facts: open_places(facts, "workspace", OTHERS_WRITE),
    ),
    security_check(
        "fs.identity_writable", Severity.CRITICAL, "others may write this file, which Hob takes for its instructions",
        "run `hob security audit --fix`", lambda facts: open_places(facts, "identity", OTHERS_WRITE),
    ),
    security_check(
        "fs.setuid", Severity.CRITICAL, "this runs with its owner's rights, no matter who starts it",
        "run `hob security audit --fix`, and find out where it came from",
        lambda facts: [PermissionFix(path, 0o6000) for path in facts.files.setuid],
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
        "fs.running_as_root", Severity.WARN, "Hob runs as root, so a mistake can damage the whole machine",
        "run Hob as a user of its own, or in a container", lambda facts: when(facts.files.root),
    ),
    security_check(
        "fs.no_recent_backup", Severity.INFO, "there is no backup of the last thirty days in the home",
        "run `hob backup FILE`; if you keep them elsewhere, add fs.no_recent_backup to security.accept",
        lambda facts: when(facts.files.backup_days is None or facts.files.backup_days > 30),
    ),
)  # fmt: skip
