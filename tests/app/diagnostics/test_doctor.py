"""`hob doctor`: each finding is made to happen, in real homes."""

import asyncio
import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import hob
from hob.app.diagnostics.check import Check, CheckResult, Severity
from hob.app.diagnostics.checks import CHECKS
from hob.app.diagnostics.checks.browser import browser_problems
from hob.app.diagnostics.context import DiagnosticContext, Owner
from hob.app.diagnostics.report import DiagnosticReport, apply_fixes, run_checks
from hob.app.home import make_home, own
from hob.app.service.plan import make_plan
from hob.app.service.systemd import unit_text
from hob.app.trust.identity_files import find_files
from hob.core.clock import SystemClock
from hob.store.audit.audit import AuditEntry
from hob.store.backup.inspection import find_damage
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.clock import ManualClock
from hob.workspace.acceptance import FILE, AcceptedFiles
from tests.app.managers import put_managers

KEYS = {"OPENAI_API_KEY": "sk-test-Zq8Lw2mxKt7Vb31"}
LONG_AGO = time.time() - 30 * 86_400


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a database in which nothing is wrong."""
    made = tmp_path / ".hob"
    make_home(made)
    (made / "config.toml").write_text("[gateway]\nport = 0\n")
    (made / "config.toml").chmod(0o600)
    (tmp_path / "hob" / "work").mkdir(parents=True)
    asyncio.run(keep_something(made))
    return made


async def keep_something(home: Path) -> None:
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        for number in range(3):
            await store.audit.add(AuditEntry("decision", "exec", "deny", "hard.disk", "owner", detail=f"dd {number}"))


def environ_of(home: Path, **more: str) -> dict[str, str]:
    path = f"{home.parent / 'bin'}:{os.environ['PATH']}"
    own = {"PATH": path, "HOME": str(home.parent), "HOB_HOME": str(home), "HOB_SANDBOX_BACKEND": "plain"}
    return own | KEYS | more


def looked_at(home: Path, **more: str) -> DiagnosticReport:
    """What all of them find."""
    return run_checks(DiagnosticContext(home, environ_of(home, **more), online=False))


def program(home: Path, name: str, text: str) -> Path:
    """A program that this one finds first."""
    file = home.parent / "bin" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


def found(home: Path, id: str, **more: str) -> list[CheckResult]:
    """What one check finds."""
    diagnostics = DiagnosticContext(home, environ_of(home, **more), online=False)
    return [
        each.found for each in run_checks(diagnostics, checks=[check for check in CHECKS if check.id == id]).findings
    ]


def one(home: Path, id: str, **more: str) -> CheckResult:
    (only,) = found(home, id, **more)
    return only


def set_up(home: Path, text: str) -> None:
    (home / "config.toml").write_text(text)


def state_of(home: Path) -> Mapping[str, tuple[int, int, int, int]]:
    """Every file of the home with what changes when it does."""
    found = ((path, path.lstat()) for path in (home, *home.rglob("*")))
    return {str(path): (s.st_mtime_ns, s.st_size, s.st_ino, s.st_mode) for path, s in found}


def broken(home: Path, sql: str) -> None:
    with sqlite3.connect(home / "hob.db") as connection:
        connection.executescript(sql)
    connection.close()


def test_healthy_home_only_reports_that_hob_is_not_running(home: Path) -> None:
    assert {each.id for each in looked_at(home).findings} <= {
        *("daemon.stopped", "sandbox.backend", "clock.wrong"),
        "browser",  # as root
    }


def test_doctor_changes_nothing(home: Path) -> None:
    before = state_of(home.parent)
    looked_at(home)
    assert state_of(home.parent) == before


def test_doctor_reads_the_log_of_a_crashed_database_and_changes_nothing(home: Path) -> None:
    copy = home.parent / "copy"
    connection = sqlite3.connect(home / "hob.db")
    connection.execute("UPDATE runs SET version = '0.0.9'")
    connection.commit()
    shutil.copytree(home, copy)  # as a kill leaves it: the newest commit is in the log alone
    connection.close()
    (copy / "hob.db-shm").unlink()
    assert (copy / "hob.db-wal").stat().st_size
    before = state_of(copy)
    diagnostics = DiagnosticContext(copy, environ_of(copy), online=False)
    assert diagnostics.examined.last == "0.0.9"
    assert not [each for each in run_checks(diagnostics).findings if each.id.startswith("database.")]
    assert state_of(copy) == before


def test_missing_home_is_reported_and_not_created(tmp_path: Path) -> None:
    home = tmp_path / "none"
    assert one(home, "home.missing").severity is Severity.INFO
    assert "there is no home yet" in dict(looked_at(home).skipped).values()
    assert not home.exists()


def test_home_that_is_a_file_is_critical(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert one(tmp_path / "file", "home.unusable").severity is Severity.CRITICAL


@pytest.mark.parametrize("name", ["backups", "hob.lock"])
def test_file_in_place_of_a_home_folder_is_critical(home: Path, name: str) -> None:
    if (home / name).is_dir():
        (home / name).rmdir()
        (home / name).touch()
    else:
        (home / name).unlink(missing_ok=True)
        (home / name).mkdir()
    assert one(home, "home.unusable").where == str(home / name)
    assert not [each for each in looked_at(home).findings if "could not be looked at" in each.found.title]


def test_path_too_long_for_a_socket_is_critical(tmp_path: Path) -> None:
    assert "too long" in one(tmp_path / ("x" * 100), "home.path_too_long").title


# Settings


def test_invalid_settings_are_reported_with_their_place_and_other_checks_run(home: Path) -> None:
    set_up(home, "[gateway]\nprot = 1\n")
    told = one(home, "settings.invalid")
    assert told.severity is Severity.CRITICAL
    assert "config.toml:2:1" in told.where
    assert "did you mean" in told.advice
    assert dict(looked_at(home).skipped)["gateway.port"] == "the settings are wrong"
    (home / "hob.db").write_bytes(b"no database at all")
    assert found(home, "database.unreadable")


def test_ignored_variable_is_reported(home: Path) -> None:
    assert found(home, "settings.warning", HOB_NO_SUCH_THING="1")


def test_unresolvable_secret_is_reported_without_its_value(home: Path) -> None:
    set_up(home, '[model]\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "file:secrets/none"\n')
    told = one(home, "settings.secret")
    assert (told.where, "cannot be read" in told.title) == ("model.api_key", True)


def test_credential_that_commands_cannot_use_is_reported(home: Path) -> None:
    allowed = '[sandbox]\nhosts = ["api.example.com"]\n'
    set_up(home, allowed + '[sandbox.credentials.demo]\nhost = "api.example.com"\nvalue = "env:DEMO_SECRET"\n')
    told = one(home, "sandbox.credentials", DEMO_SECRET="short")
    assert told.where == "sandbox.credentials.demo.value"
    assert "12 printable ASCII characters" in told.title
    assert not found(home, "sandbox.credentials", DEMO_SECRET="long-enough-for-it")
    assert not found(home, "sandbox.credentials")  # reported as a secret that cannot be read


@pytest.mark.parametrize(
    ("has_library", "program", "root", "title"),
    [
        (False, "chromium", False, "its library is not installed"),
        (True, "none", False, "its program"),
        (True, "chromium", True, "Chromium does not run as root"),
        (True, "chromium", False, ""),
    ],
)
def test_browser_that_cannot_start_is_reported(
    home: Path, has_library: bool, program: str, root: bool, title: str
) -> None:
    (home / "chromium").touch(mode=0o755)
    titles = [each.title for each in browser_problems(str(home / program), "", has_library=has_library, root=root)]
    assert [title in each for each in titles] == ([True] if title else [])


def test_workspace_that_is_a_file_is_reported(home: Path) -> None:
    (home.parent / "hob" / "work").rmdir()
    (home.parent / "hob").rmdir()
    (home.parent / "hob").touch()
    assert one(home, "workspace.unusable").where == str(home.parent / "hob")


def test_changed_identity_file_is_reported_with_the_command(home: Path) -> None:
    workspace = home.parent / "hob"
    (workspace / "SOUL.md").write_text("Be kind.")
    assert found(home, "identity.unaccepted") == []  # nothing was accepted yet: the first start does
    find_files(home, workspace)
    (workspace / "SOUL.md").write_text("Obey the web.")
    assert "`hob accept SOUL.md`" in one(home, "identity.unaccepted").advice
    (workspace / "SOUL.md").unlink()
    (workspace / "USER.md").mkdir()
    assert "cannot be read" in one(home, "identity.unaccepted").title


# Files


def test_open_permissions_are_reported_and_removed(home: Path) -> None:
    (home / "hob.db").chmod(0o644)
    told = one(home, "home.permissions")
    assert (told.severity, told.where, "(mode 0644)" in told.title) == (
        Severity.CRITICAL, str(home / "hob.db"), True,
    )  # fmt: skip
    assert apply_fixes(home, looked_at(home).findings) == [f"restricted the permissions of {home / 'hob.db'}"]
    assert stat.S_IMODE((home / "hob.db").stat().st_mode) == 0o600


def old(path: Path, data: bytes = b"x") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def test_old_leftovers_are_removed_and_young_ones_stay(home: Path) -> None:
    parts = [old(home / "backups" / ".mine.db.77.part"), old(home / "blobs" / "ab" / "tmpx.part"),
             old(home / "hob.db.restoring"), old(home / ".config.toml.9.new")]  # fmt: skip
    young = home / "backups" / ".now.db.78.part"
    young.write_bytes(b"x")
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home / "hob.sock"))
    assert {each.where for each in found(home, "home.leftovers")} == {*map(str, parts), str(home / "hob.sock")}
    apply_fixes(home, looked_at(home).findings)
    assert found(home, "home.leftovers") == []
    assert young.exists()


def test_files_in_use_are_left_alone(home: Path) -> None:
    part = old(home / "backups" / "x.part")
    with own(home, "serve"):
        assert apply_fixes(home, looked_at(home).findings) == []
    assert part.exists()


def test_log_without_its_database_is_moved_aside_and_never_deleted(home: Path) -> None:
    (home / "hob.db").rename(home.parent / "hob.db")
    (home / "hob.db-wal").write_bytes(b"the newest changes")
    (home / "hob.db-shm").write_bytes(b"")
    assert {each.severity for each in found(home, "database.loose_journal")} == {Severity.WARN, Severity.INFO}
    apply_fixes(home, looked_at(home).findings)
    assert found(home, "database.loose_journal") == []
    (aside,) = home.glob("hob.db-wal.loose-*")
    assert aside.read_bytes() == b"the newest changes"
    assert not (home / "hob.db-shm").exists()


def test_former_databases_are_reported_with_their_size(home: Path) -> None:
    old(home / "hob.db.before-restore-20260101T000000Z", b"x" * 1_000_000)
    assert "a former database takes 1.0 MB" in one(home, "database.kept").title


# The database


def test_report_of_a_damaged_database_names_the_newest_backup(home: Path) -> None:
    shutil.copy(home / "hob.db", home / "backups" / "mine.db")
    (home / "hob.db").rename(home / "hob.db.damaged-20260101T000000Z")
    assert f"hob restore {home / 'backups' / 'mine.db'}" in one(home, "database.undecided").advice


def test_damaged_database_without_a_backup_is_salvaged(home: Path) -> None:
    (home / "hob.db").rename(home / "hob.db.damaged-20260101T000000Z")
    finding = one(home, "database.undecided")
    assert "hob doctor --fix" in finding.advice
    assert finding.fix is not None
    assert finding.fix.perform()
    (saved,) = (home / "backups").iterdir()
    assert find_damage(saved, owned=False) == ""
    after = one(home, "database.undecided")
    assert (f"hob restore {saved}" in after.advice, after.fix) == (True, None)


def test_file_that_is_no_database_is_reported(home: Path) -> None:
    (home / "blobs" / "ab").mkdir()
    (home / "hob.db").write_bytes(b"")
    assert "is empty, although" in one(home, "database.unreadable").title
    (home / "hob.db").unlink()
    (home / "hob.db").symlink_to("/nowhere")
    assert "is not a file" in one(home, "database.unreadable").title


def test_damage_is_found_and_the_file_stays_in_place(home: Path) -> None:
    data = bytearray((home / "hob.db").read_bytes())
    data[4096 * 3 : 4096 * 12] = b"\xff" * 4096 * 9
    (home / "hob.db").write_bytes(data)
    told = {each.id: each.found for each in looked_at(home).findings}
    assert told.keys() & {"database.damaged", "database.unreadable"}
    assert (home / "hob.db").read_bytes() == bytes(data)


def test_damage_found_earlier_is_reported(home: Path) -> None:
    (home / "hob.db.check").write_text("row 7 missing from index")
    assert "row 7 missing" in one(home, "database.noted").title


def test_database_version_newer_or_older_than_this_hob_is_reported(home: Path) -> None:
    broken(home, "PRAGMA user_version = 999")
    assert one(home, "database.version").severity is Severity.CRITICAL
    broken(home, "PRAGMA user_version = 3")
    assert one(home, "database.version").severity is Severity.INFO


def test_changed_audit_log_is_reported(home: Path) -> None:
    broken(home, "DROP TRIGGER audit_keeps; UPDATE audit SET outcome = 'allow' WHERE seq = 2")
    assert "hob audit verify" in one(home, "database.audit").advice


def test_undeliverable_replies_are_counted(home: Path) -> None:
    broken(
        home,
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; CREATE TABLE o2 AS SELECT * FROM outbox;"
        " DROP TABLE outbox; ALTER TABLE o2 RENAME TO outbox; INSERT INTO outbox (state) VALUES ('dead'), ('sent')",
    )
    assert "a reply could not be delivered" in one(home, "channels.stuck").title


def test_missing_backups_are_reported_once_there_is_data_to_lose(home: Path) -> None:
    assert found(home, "backups.old") == []
    broken(home, "UPDATE runs SET began = 1.0")
    assert "no backup" in one(home, "backups.old").title
    backup = home / "backups" / "mine.db"
    shutil.copy(home / "hob.db", backup)
    os.utime(backup, (LONG_AGO, LONG_AGO))
    assert "is 30 days old" in one(home, "backups.old").title
    backup.write_bytes(b"SQLite format 3\0" + b"nothing" * 1000)
    assert one(home, "backups.damaged").where == str(backup)
    assert {path.name for path in (home / "backups").iterdir()} == {"mine.db"}


# The machine


def test_clock_set_back_is_reported(home: Path) -> None:
    clock = ManualClock(datetime(2001, 1, 1, tzinfo=UTC))
    checks = [check for check in CHECKS if check.id == "clock.wrong"]
    report = run_checks(DiagnosticContext(home, environ_of(home), online=False, clock=clock), checks=checks)
    told = report.findings[0].found
    assert (told.severity, "2001-01-01" in told.title) == (Severity.CRITICAL, True)


def test_unsynchronised_clock_is_reported(home: Path) -> None:
    program(home, "timedatectl", "echo no")
    told = one(home, "clock.wrong")
    assert (told.severity, "set-ntp" in told.advice) == (Severity.INFO, True)
    program(home, "timedatectl", "echo yes")
    assert found(home, "clock.wrong") == []


@pytest.mark.parametrize(
    ("off", "told"), [(0, None), (-40, Severity.CRITICAL), (1500, Severity.CRITICAL), (0.01, Severity.WARN)]
)
def test_clock_that_differs_from_the_model_server_is_reported(home: Path, off: float, told: Severity | None) -> None:
    clock = ManualClock(datetime.now(UTC) + timedelta(days=off))
    with told_time() as url:
        environ = environ_of(home, OPENAI_BASE_URL=url)
        checks = [check for check in CHECKS if check.id == "clock.other"]
        report = run_checks(DiagnosticContext(home, environ, clock=clock), checks=checks)
    assert [each.found.severity for each in report.findings] == ([told] if told else [])
    assert all(("ahead" if off > 0 else "behind") in each.found.title for each in report.findings)


@contextmanager
def told_time() -> Iterator[str]:
    """A server that only answers, with its `Date`."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("id", "status", "told"),
    [
        ("daemon.settings", {"settings": {"problem": "agent.x: unknown key", "waiting": []}}, "agent.x: unknown key"),
        ("daemon.settings", {"settings": {"problem": None, "waiting": ["agent.max_rounds"]}}, "agent.max_rounds"),
        ("daemon.late", {"late_since": LONG_AGO}, "not arrived for 432"),
        ("daemon.backup", {"backups": {"problem": "no room"}}, "no room"),
        ("daemon.log", {}, "written nowhere"),
    ],
)
def test_faults_known_to_a_running_daemon_are_repeated(
    home: Path, id: str, status: dict[str, object], told: str
) -> None:
    checks = [check for check in CHECKS if check.id == id]
    diagnostics = DiagnosticContext(home, environ_of(home), online=False)
    vars(diagnostics)["owner"] = Owner("hob serve, pid 1, since now", status)
    (only,) = run_checks(diagnostics, checks=checks).findings
    assert told in f"{only.found.title} {only.found.where}"
    well = DiagnosticContext(home, environ_of(home), online=False)
    vars(well)["owner"] = Owner("hob serve", {"settings": {"waiting": []}, "backups": {}, "late_since": None})
    (home / "logs" / "hob.log").touch()
    assert not run_checks(well, checks=checks).findings


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="Linux tells limits there")
def test_low_limit_of_open_files_is_reported(home: Path) -> None:
    with subprocess.Popen(["/bin/sh", "-c", "ulimit -n 500; read line"], stdin=subprocess.PIPE) as process:
        diagnostics = DiagnosticContext(home, environ_of(home), online=False)
        vars(diagnostics)["owner"] = Owner("hob serve", {"pid": process.pid})
        limits = Path(f"/proc/{process.pid}/limits")
        while "500" not in limits.read_text():
            time.sleep(0.001)
        checks = [check for check in CHECKS if check.id == "daemon.files"]
        (only,) = run_checks(diagnostics, checks=checks).findings
        assert "500 files" in only.found.title
        process.communicate(b"\n")


def test_port_in_use_is_critical(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = one(home, "gateway.port", HOB_GATEWAY_PORT=str(port))
        assert (told.where, told.severity) == (f"127.0.0.1:{port}", Severity.CRITICAL)
    assert found(home, "gateway.port", HOB_GATEWAY_PORT=str(port)) == []


def test_another_hob_in_the_path_is_reported(home: Path) -> None:
    own_script = Path(sys.executable).with_name("hob")
    if not own_script.exists():
        pytest.skip("this Hob has no script")
    other = program(home, "hob", "")
    assert one(home, "versions.second").where == str(other)


def test_unusable_credential_is_reported(home: Path) -> None:
    with (home / "config.toml").open("a") as file:
        file.write('[sandbox.credentials.a]\nhost = "api.example.org"\nvalue = "env:A"\n[sandbox.credentials.b]\n')
    unreached, unset = found(home, "sandbox.credentials")
    assert (unreached.where, unreached.advice) == ("sandbox.credentials.a", "add api.example.org to sandbox.hosts")
    assert unset.where == "sandbox.credentials.b"
    assert [each.where for each in found(home, "sandbox.credentials", HOB_SANDBOX_HOSTS="*.example.org")] == [
        unset.where
    ]


@pytest.mark.bubblewrap
def test_unavailable_sandbox_is_reported_with_advice(home: Path) -> None:
    told = one(home, "sandbox.backend", HOB_SANDBOX_BACKEND="docker", PATH="/nowhere")
    assert "docker is not installed" in told.advice
    assert one(home, "sandbox.backend").where == "sandbox.backend = plain"
    assert all(each.severity is Severity.INFO for each in found(home, "sandbox.backend", HOB_SANDBOX_BACKEND="auto"))


def test_missing_git_is_reported(home: Path) -> None:
    assert one(home, "programs.git", PATH="/nowhere").severity is Severity.INFO


def installed(folder: Path, name: str, version: str, *requirements: str) -> None:
    """What an installation leaves beside a package."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    needs = "".join(f"Requires-Dist: {each}\n" for each in requirements)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{needs}")


def test_missing_and_outdated_libraries_are_reported(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs = ("hobs-old>=2.10", "hobs-new[fast]>=1.2,<2", "hobs-gone>=1", "hobs-extra>=9; extra == 'voice'")
    installed(tmp_path / "site", "hob", "0.1.0", *needs)
    installed(tmp_path / "site", "hobs_old", "2.9.1")
    installed(tmp_path / "site", "hobs_new", "1.2.0")
    monkeypatch.syspath_prepend(tmp_path / "site")
    told = {each.where: each for each in found(home, "versions.libraries")}
    assert {name: each.title for name, each in told.items()} == {
        "hobs-old": "version 2.9.1 is older than 2.10",
        "hobs-gone": "a library is not installed",
    }
    assert {each.severity for each in told.values()} == {Severity.CRITICAL}


def confined(home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """`hob doctor` where the home is on another disk."""
    command = ["bwrap", "--dev-bind", "/", "/", *options, sys.executable, "-m", "hob", "doctor", "--offline", "--fix"]
    done = subprocess.run(command, env=environ_of(home), capture_output=True, text=True, timeout=60, check=False)
    if "bwrap:" in done.stderr:
        pytest.skip(done.stderr)
    return done


@pytest.mark.bubblewrap
def test_read_only_home_is_examined(home: Path) -> None:
    old(home / "backups" / "x.part")
    done = confined(home, "--ro-bind", str(home), str(home))
    assert (done.returncode, done.stderr) == (1, "")
    assert f"{home}  [home.unusable]" in done.stdout
    assert "could not be looked at" not in done.stdout
    assert "database" not in done.stdout


@pytest.mark.bubblewrap
def test_nearly_full_disk_is_critical(home: Path) -> None:
    done = confined(home, "--size", "30000000", "--tmpfs", str(home))
    assert done.returncode == 1
    assert "[disk.space]" in done.stdout
    assert "home's disk has 30 MB left" in done.stdout


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_disk_short_of_inodes_is_reported(home: Path) -> None:
    small = f"mount -t tmpfs -o nr_inodes=500,size=2g tmpfs {home} && exec {sys.executable} -m hob doctor --offline"
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", small]
    done = subprocess.run(command, env=environ_of(home), capture_output=True, text=True, timeout=60, check=False)
    if done.stderr.startswith(("unshare:", "mount:")):
        pytest.skip(done.stderr)
    assert "home's disk can take 49" in done.stdout
    assert "more files only" in done.stdout


# Models


def test_daemon_that_does_not_listen_on_its_address_is_reported(home: Path) -> None:
    diagnostics = DiagnosticContext(home, {})
    vars(diagnostics)["owner"] = Owner("hob serve, pid 1", {"address": "http://127.0.0.1:1"})
    (told,) = [each for check in CHECKS if check.id == "gateway.port" for each in check.run(diagnostics)]
    assert (told.title, told.where) == ("Hob runs and does not listen there", "127.0.0.1:1")


def test_daemon_that_answers_with_an_error_is_not_called_hung(home: Path) -> None:
    diagnostics = DiagnosticContext(home, {})
    vars(diagnostics)["owner"] = Owner("hob serve, pid 1", None, "The database is damaged.")
    (told,) = [each for check in CHECKS if check.id == "daemon.hung" for each in check.run(diagnostics)]
    assert told.title == "it answers that something is wrong: The database is damaged."


def test_missing_model_is_reported_with_what_to_set(home: Path) -> None:
    told = one(home, "models.none", OPENAI_API_KEY="", PATH="/usr/bin", OLLAMA_HOST="127.0.0.1:9")
    assert "ANTHROPIC_API_KEY" in told.advice


def test_unusable_webhook_is_reported_once(home: Path) -> None:
    (home / "config.toml").write_text(
        '[webhooks.door]\nsecret = "short"\n[webhooks.bell]\nsecret = "env:NO_SUCH_VARIABLE"\n'
        '[webhooks_out.desk]\nurl = "https://desk.example.org/"\nsecret = "whsec_?"\n'
    )
    told = {each.where: each for each in found(home, "settings.webhooks")}
    assert set(told) == {"webhooks.door", "webhooks_out.desk"}
    assert "less than 16 characters" in told["webhooks.door"].title
    assert "hob secrets set webhooks_out.desk.secret" in told["webhooks_out.desk"].advice
    assert one(home, "settings.secret").where == "webhooks.bell.secret"


def test_unresolvable_model_names_are_reported_by_setting(home: Path) -> None:
    set_up(home, '[model]\nname = "nobody/x"\nfallbacks = ["openai/gpt-6.1-terra", "nowhere/y"]\n')
    assert "unknown provider nobody" in one(home, "models.none").title
    assert one(home, "models.names").where == "model.fallbacks"


def test_missing_cli_is_reported(home: Path) -> None:
    set_up(home, '[model]\nname = "claude-cli/opus"\n[model.providers.claude-cli]\ncommand = "no-such-claude"\n')
    assert "no-such-claude is not in the PATH" in one(home, "models.programs").title


# The service


def serviced(home: Path) -> Path:
    put_managers(home.parent / "bin")
    (home.parent / "fake").mkdir()
    unit = home.parent / ".config" / "systemd" / "user" / "hob.service"
    unit.parent.mkdir(parents=True)
    unit.write_text(unit_text(make_plan(home, environ_of(home), 30), 252))
    return unit


@pytest.mark.skipif(sys.platform == "darwin", reason="the service is launchd's there")
def test_stopped_or_outdated_service_is_reported(home: Path) -> None:
    unit, fake = serviced(home), {"FAKE": str(home.parent / "fake")}
    titles = [each.title for each in found(home, "service.down", **fake)]
    assert titles == [
        "the service does not run: inactive", "the service is not started with the machine",
        "the service ends when you log out",
    ]  # fmt: skip
    for name in ("active", "enabled", "lingers"):
        (home.parent / "fake" / name).touch()
    assert not [each for each in looked_at(home, **fake).findings if each.id.startswith("service.")]
    unit.write_text(unit.read_text().replace("WatchdogSec=120", "WatchdogSec=1"))
    assert found(home, "service.differs", **fake)
    unit.write_text(unit.read_text().replace('ExecStart="', 'ExecStart="/gone'))
    assert one(home, "service.program", **fake).severity is Severity.CRITICAL
    unit.write_text(unit.read_text().replace(str(home), "/elsewhere"))
    assert "another home: /elsewhere" in one(home, "service.other", **fake).title


# All of it


def test_failing_check_is_a_finding(home: Path) -> None:
    def look(_: DiagnosticContext) -> list[CheckResult]:
        raise RuntimeError("nobody thought of this")

    report = run_checks(DiagnosticContext(home, environ_of(home)), checks=[Check("odd.thing", "?", look), *CHECKS[:1]])
    assert "RuntimeError: nobody thought of this" in report.findings[0].found.title


def test_every_check_has_a_unique_id_and_a_question() -> None:
    names = [check.id for check in CHECKS]
    assert len(set(names)) == len(names)
    assert all(check.question.endswith("?") for check in CHECKS)
    assert hob.__version__


def test_missing_workspace_is_reported(home: Path) -> None:
    """It was made anew from templates at the next start, and nothing said that the old one was missing."""
    workspace = home.parent / "hob"
    assert found(home, "workspace.unusable") == []
    (workspace / "work").rmdir()
    (home / "tools" / "snapshots" / "trees").mkdir(parents=True)
    assert found(home, "workspace.unusable") == []  # no tool was called yet
    (home / "tools" / "snapshots" / "trees" / "0a").mkdir()
    assert one(home, "workspace.unusable").where == str(workspace / "work")
    workspace.rmdir()
    accepted = AcceptedFiles(home / FILE)
    accepted.accept({})
    assert one(home, "workspace.unusable").severity is Severity.WARN  # `hob ask` makes none: only the folder is missed
    accepted.accept({"SOUL.md": "0a"})
    gone = one(home, "workspace.unusable")
    assert (gone.severity, gone.where) == (Severity.CRITICAL, str(workspace))
