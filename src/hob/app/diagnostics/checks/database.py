"""Checks of the database and its backups."""

import os
from collections.abc import Iterator
from pathlib import Path

import apsw

from hob.app.diagnostics.check import Check, CheckResult, Fix, critical, info, warn
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.home import holder_of
from hob.core.errors import HobError, StoreError
from hob.core.translation.language import translatable
from hob.store.backup.inspection import examine_audit, find_damage
from hob.store.backup.salvage import salvage
from hob.store.database.database import NAME, check_note, damaged_files, traces, was_used
from hob.store.database.disk import free_bytes, stamp
from hob.store.database.migration import backup_hint, newest_backup

_DAY = 86_400.0
_BACKUP_DAYS = 7


def _undecided(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    home = diagnostics.need_home()
    damaged, used = damaged_files(home), traces(home)
    if (home / NAME).exists():
        return
    hint = backup_hint(home, damaged=bool(damaged))
    kept = " and ".join(map(str, (*damaged[-1:], *used)))
    advice = translatable("{hint} To begin with an empty one, move {kept} elsewhere", hint=hint, kept=kept)
    if damaged:
        title = "the database was damaged, and Hob waits for your decision"
        yield critical(title, advice, str(damaged[-1]), _salvage_fix(diagnostics, damaged[-1]))
    elif used:
        yield critical("the database is gone, although this home has been used", advice, str(home / NAME))


def _unreadable(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    file = diagnostics.need_home() / NAME
    if os.path.lexists(file) and not file.is_file():
        yield critical(
            "the database is not a file",
            translatable("move this away. {hint}", hint=backup_hint(diagnostics.home)),
            str(file),
        )
        return
    if diagnostics.database.stat().st_size == 0 and was_used(diagnostics.home):
        yield critical(
            "the database is empty, although this home has been used", backup_hint(diagnostics.home), str(file)
        )
    elif isinstance(diagnostics.examination, HobError):
        yield critical(
            str(diagnostics.examination).removesuffix("; see `hob restore`."),  # the advice already says so
            translatable("{hint} Keep a copy of the file first", hint=backup_hint(diagnostics.home, damaged=True)),
            str(file),
            _salvage_fix(diagnostics, file),
        )


def _salvage_fix(diagnostics: DiagnosticContext, damaged: Path) -> Fix | None:
    """Return a fix that salvages what can be read, if there is no backup."""
    if newest_backup(diagnostics.home) is not None:
        return None
    now = diagnostics.clock.now()
    goal = diagnostics.home / "backups" / f"salvaged-{stamp(now)}.db"

    def perform() -> bool:
        try:
            goal.parent.mkdir(mode=0o700, exist_ok=True)
            return salvage(damaged, goal, now.timestamp()) > 0
        except (StoreError, apsw.Error, OSError):
            return False

    return Fix(
        translatable(
            "what can be read of {damaged} is now {goal}; `hob restore {goal}` puts it in place",
            damaged=damaged,
            goal=goal,
        ),
        perform,
        True,
    )


def _noted(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    note = check_note(diagnostics.database)
    try:
        problem = note.read_text("utf-8") if note.exists() else ""
    except OSError:
        return
    if problem:
        yield critical(
            translatable("an earlier check found damage: {problem}", problem=problem),
            backup_hint(diagnostics.home),
            str(diagnostics.database),
        )


def _damaged(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if problem := _damage_of(diagnostics):
        yield critical(
            translatable("the database is damaged: {problem}", problem=problem),
            translatable("stop Hob. {hint}", hint=backup_hint(diagnostics.home)),
            str(diagnostics.database),
        )


def _damage_of(diagnostics: DiagnosticContext) -> str:
    if isinstance(diagnostics.examination, HobError):
        return ""
    problem = find_damage(diagnostics.database, owned=diagnostics.owner is not None)
    if problem and diagnostics.owner is None and holder_of(diagnostics.home):
        # during an unlocked read, a daemon that starts writing looks like damage
        return find_damage(diagnostics.database, owned=True)
    return problem


def _version(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    seen = diagnostics.examined
    if seen.version > seen.known:
        yield critical(
            translatable(
                "a newer Hob wrote the database (version {version}; this one knows {known})",
                version=seen.version,
                known=seen.known,
            ),
            translatable("upgrade Hob: `hob upgrade` says how. {hint}", hint=backup_hint(diagnostics.home)),
            str(diagnostics.database),
        )
    elif seen.version < seen.known and seen.size:
        room = free_bytes(diagnostics.home)
        told = translatable(
            "the next start brings the database from version {version} to {known}, and makes a backup first",
            version=seen.version,
            known=seen.known,
        )
        if room < 2 * seen.size:
            yield warn(
                told,
                translatable(
                    "it needs {needed:.0f} MB and there are {room:.0f}: make room",
                    needed=2 * seen.size / 1e6,
                    room=room / 1e6,
                ),
            )
        elif diagnostics.owner is None:
            yield info(told, "nothing to do")


def _audit(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if diagnostics.examined.version == 0:
        return
    checked = examine_audit(diagnostics.home, owned=diagnostics.owner is not None)
    if checked is not None and not checked.whole:
        problem = checked.problems[0] if checked.problems else translatable("entries are missing")
        yield critical(
            translatable("the audit log is not as it was written: {problem}", problem=problem), "see `hob audit verify`"
        )


def _stuck(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if count := diagnostics.examined.stuck:
        yield warn(
            translatable("a reply could not be delivered")
            if count == 1
            else translatable("{count} replies could not be delivered", count=count),
            "`hob status` lists them with reasons; `hob retry ID`",
        )


def _backups(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    began = diagnostics.examined.began
    if not began or diagnostics.now - began < _DAY:
        return
    newest = newest_backup(diagnostics.home)
    if newest is None:
        yield warn(
            "there is no backup in the home",
            translatable(
                "`hob backup {home}/backups/NAME.db`; all is well if you keep them elsewhere", home=diagnostics.home
            ),
        )
    elif (days := (diagnostics.now - newest.stat().st_mtime) / _DAY) > _BACKUP_DAYS:
        yield warn(
            translatable("the newest backup is {days:.0f} days old", days=days),
            "make another: `hob backup FILE`",
            str(newest),
        )


def _backup_damaged(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    newest: Path | None = newest_backup(diagnostics.need_home())
    if newest is None:
        return
    try:
        problem = find_damage(newest, owned=False)
    except StoreError as error:
        problem = str(error)
    if problem:
        yield warn(
            translatable("the newest backup is damaged: {problem}", problem=problem),
            "make another: `hob backup FILE`",
            str(newest),
        )


DATABASE: tuple[Check, ...] = (
    Check("database.undecided", "Does a damaged database wait?", _undecided),
    Check("database.unreadable", "Can the database be opened?", _unreadable),
    Check("database.noted", "Was damage found before?", _noted),
    Check("database.damaged", "Is the database whole?", _damaged, slow=True),
    Check("database.version", "Does this Hob fit the database?", _version),
    Check("database.audit", "Is the audit log whole?", _audit, slow=True),
    Check("channels.stuck", "Was every reply delivered?", _stuck),
    Check("backups.old", "Is there a backup?", _backups),
    Check("backups.damaged", "Can the newest backup be put in place?", _backup_damaged, slow=True),
)
