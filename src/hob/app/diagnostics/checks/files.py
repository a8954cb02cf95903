"""Checks of the home's files: writable, private, and no remains of a crash."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from hob.app.diagnostics.check import Check, CheckResult, Fix, critical, info, warn
from hob.app.diagnostics.checks.security.files import FILES as PERMISSIONS
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.diagnostics.security_facts import gather_files
from hob.app.diagnostics.security_values import SecurityFacts
from hob.app.home import PARTS
from hob.core.clock import Clock
from hob.core.translation.language import translatable
from hob.store.database.database import NAME
from hob.store.database.disk import free_name, stamp

_OLD_SECONDS = 3_600.0
"""Age in seconds; younger files may still be written to."""
_SOCKET_BYTES = 100
"""Bytes that fit a Unix socket's address on all systems (104 on macOS)."""


def _unusable(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    home = diagnostics.home
    if not os.path.lexists(home):
        return
    if not home.is_dir():
        yield critical("the home is not a folder", "set HOB_HOME to a folder of yours, or move this away", str(home))
    elif not diagnostics.may_write(home):
        yield critical(
            "the home cannot be written: Hob cannot start",
            "make it yours and writable, mount its disk for writing, or set HOB_HOME to another folder",
            str(home),
        )
    else:
        wrong = [part for part in PARTS if os.path.lexists(home / part) and not (home / part).is_dir()]
        wrong += ["hob.lock"] if (home / "hob.lock").is_dir() else []
        for part in wrong:
            yield critical("this is not what it should be: Hob cannot start", "move it away", str(home / part))


def _too_long(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    if len(os.fsencode(diagnostics.home / ".hob.sock.new")) >= _SOCKET_BYTES:
        yield critical(
            "the home's path is too long for a Unix socket", "set HOB_HOME to a shorter one", str(diagnostics.home)
        )


def _permissions(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    diagnostics.need_home()
    config = diagnostics.config
    facts = SecurityFacts(files=gather_files(config, diagnostics.environ, dict(config.secrets())))
    here = diagnostics.with_facts(facts)
    for check in PERMISSIONS:
        for found in check.run(here):
            if found.fix is not None:
                title = translatable("{title} (mode {mode})", title=found.title, mode=_mode(found.where))
                told = translatable("restricted the permissions of {path}", path=found.where)
                advice = "`hob doctor --fix` restricts its permissions"
                yield replace(found, title=title, advice=advice, fix=replace(found.fix, told=told))
            elif check.id == "fs.foreign_owner":
                yield found


def _mode(path: str) -> str:
    return f"{Path(path).stat().st_mode & 0o7777:04o}"


def _leftovers(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    """Report files left half-written by a crash. Nothing reads them again."""
    diagnostics.need_home()
    parts = [(translatable("a piece of work that never came to its end"), path) for path in _parts(diagnostics)]
    for title, path in (
        *parts,
        *((translatable("the socket of a Hob that was killed"), path) for path in _sockets(diagnostics)),
    ):
        mend = Fix(translatable("removed {path}", path=path), partial(_remove, path), alone=True)
        yield info(title, "the next start does without it; `hob doctor --fix` removes it", str(path), mend)


def _parts(diagnostics: DiagnosticContext) -> Iterable[Path]:
    patterns = (".*.new", ".*.part", f"{NAME}.restoring*", "backups/*.part", "backups/.*.part", "blobs/*/*.part")
    found = dict.fromkeys(path for pattern in patterns for path in sorted(diagnostics.home.glob(pattern)))
    return [path for path in found if path.is_file() and diagnostics.now - path.stat().st_mtime > _OLD_SECONDS]


def _sockets(diagnostics: DiagnosticContext) -> Iterator[Path]:
    sockets = (diagnostics.home / "hob.sock", diagnostics.home / ".hob.sock.new")
    yield from (path for path in sockets if diagnostics.owner is None and path.is_socket())


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True


def _loose_journals(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    """Report journals of a missing database: SQLite would discard them with the next database of that name."""
    home = diagnostics.need_home()
    for side in ("-wal", "-journal", "-shm"):
        for log in sorted((*home.glob(f"*.db{side}"), *home.glob(f"*.db.*{side}"), *home.glob(f"backups/*.db{side}"))):
            if log.with_name(log.name.removesuffix(side)).exists():
                continue
            if side == "-shm" or not log.stat().st_size:
                mend = Fix(translatable("removed {log}", log=log), partial(_remove, log), alone=True)
                yield info(
                    "an empty log of a database that is not there", "`hob doctor --fix` removes it", str(log), mend
                )
            else:
                mend = Fix(
                    translatable("put {log} aside", log=log), partial(_move_aside, log, diagnostics.clock), alone=True
                )
                yield warn(
                    "the newest changes of a database that is not there",
                    "if you moved the database, put this beside it under its name; `hob doctor --fix` puts it aside,"
                    " so that no new database takes it away",
                    str(log),
                    mend,
                )


def _move_aside(log: Path, clock: Clock) -> bool:
    try:
        log.rename(free_name(log.with_name(f"{log.name}.loose-{stamp(clock.now())}")))
    except OSError:
        return False
    return True


def _kept(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    home = diagnostics.need_home()
    kept = [*home.glob(f"{NAME}.damaged-*"), *home.glob(f"{NAME}.before-restore-*")]
    size = sum(path.stat().st_size for path in kept)
    if kept and (home / NAME).exists():
        names = [path.name for path in sorted(kept)]
        yield info(
            translatable("a former database takes {size:.1f} MB", size=size / 1_000_000)
            if len(kept) == 1
            else translatable("{kept} former databases take {size:.1f} MB", kept=len(kept), size=size / 1_000_000),
            "delete them when you are sure that you miss nothing that is in them",
            ", ".join(names[:3]) + (", …" if len(names) > 3 else ""),
        )


FILES: tuple[Check, ...] = (
    Check("home.unusable", "Can the home be used?", _unusable),
    Check("home.path_too_long", "Can a socket lie in the home?", _too_long),
    Check("home.permissions", "Is the home private?", _permissions),
    Check("home.leftovers", "Was all work brought to its end?", _leftovers),
    Check("database.loose_journal", "Is every log beside its database?", _loose_journals),
    Check("database.kept", "Are there former databases?", _kept),
)
