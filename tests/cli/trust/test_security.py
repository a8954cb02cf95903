"""`hob security audit` and `hob audit`: real processes over a real home, without a daemon."""

import asyncio
import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import apsw
import pytest

from hob.core.clock import SystemClock
from hob.store.audit.audit import AuditEntry
from hob.store.settings import StoreSettings
from hob.store.store import open_store

pytestmark = pytest.mark.slow

PLAIN = "sk-test-Zq8Lw2mxKt7Vb31"
CONFIG = f"""
[gateway]
host = "0.0.0.0"
auth_token = "{PLAIN}"

[model]
base_url = "http://models.example.org/v1"
api_key = "{PLAIN}"

[prompt_guard]
secrets = "off"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    for folder in (made, made / "secrets", made / "backups"):
        folder.mkdir(mode=0o755)
    (made / "config.toml").write_text(CONFIG)
    (made / "config.toml").chmod(0o644)
    (made / "secrets" / "key").write_text("x")
    (made / "secrets" / "key").chmod(0o640)
    return made


def hob(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "HOB_HOME": str(home), "OPENAI_API_KEY": "k"}
    command = [sys.executable, "-m", "hob", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


def found(home: Path, *arguments: str) -> tuple[dict[str, Any], int]:
    done = hob(home, "security", "audit", "--json", *arguments)
    return json.loads(done.stdout), done.returncode


def ids(report: dict[str, Any]) -> set[str]:
    return {each["id"] for each in report["findings"]}


def test_audit_reports_problems_of_the_home(home: Path) -> None:
    report, status = found(home)
    assert status == 1
    assert ids(report) >= {
        "fs.home_mode", "fs.config_mode", "fs.secrets_mode", "fs.secret_mode", "fs.backups_mode",
        "gateway.bind_everywhere", "gateway.bind_plain", "gateway.token_short", "secrets.plain_in_config",
        "secrets.reused", "model.plain_http", "model.secrets_told", "model.key_in_environment", "model.no_limit",
    }  # fmt: skip
    assert PLAIN not in json.dumps(report)


def test_audit_reports_secrets_named_for_a_host(home: Path) -> None:
    given = {"plain": PLAIN, "short": "env:OPENAI_API_KEY", "gone": "env:NOT_SET"}
    with (home / "config.toml").open("a") as file:
        for name, value in given.items():
            file.write(f'\n[sandbox.credentials.{name}]\nhost = "api.example.org"\nvalue = "{value}"\n')
    report, _ = found(home)
    named = {
        (each["id"], name)
        for each in report["findings"]
        for name in given
        if f"sandbox.credentials.{name}.value" in each["where"]
    }
    assert named == {
        ("secrets.plain_in_config", "plain"), ("secrets.reused", "plain"),
        ("secrets.not_maskable", "short"), ("secrets.unreadable", "gone"),
    }  # fmt: skip
    assert PLAIN not in json.dumps(report)


def test_audit_says_whether_others_may_read_or_also_change(home: Path) -> None:
    for mode, told in ((0o755, "others on this machine may read Hob's home"), (0o733, "may read or change Hob's home")):
        home.chmod(mode)
        title = next(each["title"] for each in found(home)[0]["findings"] if each["id"] == "fs.home_mode")
        assert title.endswith(told)


def test_fix_restricts_permissions_and_changes_nothing_else(home: Path) -> None:
    before = (home / "config.toml").read_text()
    report, _ = found(home, "--fix")
    assert not [name for name in ids(report) if name.endswith("_mode")]
    assert len(report["fixed"]) == 5
    assert stat.S_IMODE((home / "config.toml").stat().st_mode) == 0o600
    assert stat.S_IMODE((home / "secrets" / "key").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert (home / "config.toml").read_text() == before


def test_audit_finds_writable_files_and_setuid_programs(home: Path) -> None:
    workspace = home.parent / "hob"
    (workspace / "work").mkdir(parents=True)
    (shared := home.parent / "shared").mkdir()
    programs = (workspace / "work" / "sh", shared / "sh")
    for path, mode in ((workspace / "SOUL.md", 0o666), *((each, 0o4755) for each in programs)):
        path.write_text("x")
        path.chmod(mode)
    (home / "logs").mkdir(mode=0o700)
    (home / "logs" / "hob.jsonl").write_text("x")
    (home / "logs" / "hob.jsonl").chmod(0o644)
    near = (
        CONFIG.replace("models.example.org", "192.168.1.5")
        + f'\n[spending]\ndaily = 1e9\n[sandbox]\nwrite = ["{shared}"]\n'
    )
    (home / "config.toml").write_text(near)
    new = {"fs.identity_writable", "fs.setuid", "fs.log_mode", "model.key_over_http", "limits.absurd"}
    report, _ = found(home)
    assert new <= ids(report)
    left, _ = found(home, "--fix")
    assert ids(left) & new == {"model.key_over_http", "limits.absurd"}
    assert {stat.S_IMODE(each.stat().st_mode) for each in programs} == {0o755}


def test_fix_follows_no_links(home: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("x")
    outside.chmod(0o644)
    (home / "secrets" / "link").symlink_to(outside)
    found(home, "--fix")
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644


def test_accepted_finding_does_not_fail_the_audit(home: Path) -> None:
    report, _ = found(home, "--fix")
    critical = sorted({each["id"] for each in report["findings"] if each["severity"] == "critical"})
    with (home / "config.toml").open("a") as file:
        file.write(f"\n[security]\naccept = {json.dumps([*critical, 'fs.no_such_thing'])}\n")
    report, status = found(home)
    assert (status, report["unknown"]) == (0, ["fs.no_such_thing"])
    shown = hob(home, "security", "audit").stdout
    assert f"accepted  {critical[0]}" in shown
    assert "checks: " in shown.splitlines()[-1]


async def write(home: Path, count: int) -> None:
    async with open_store(home, StoreSettings(), SystemClock()) as store:
        for number in range(count):
            await store.audit.add(AuditEntry("decision", "exec", "deny", "hard.disk", "owner", detail=f"dd {number}"))


def test_log_is_shown_and_checked(tmp_path: Path) -> None:
    home = tmp_path / "fresh"
    asyncio.run(write(home, 3))
    shown = hob(home, "audit", "show", "--limit", "2")
    assert ["dd 1" in shown.stdout, "dd 0" in shown.stdout, shown.returncode] == [True, False, 0]
    told = json.loads(hob(home, "audit", "verify", "--json").stdout)
    assert (told["whole"], told["count"]) == (True, 3)
    noted = ("--head", told["head"])
    asyncio.run(write(home, 1))
    assert hob(home, "audit", "verify", *noted).returncode == 0
    assert "are missing" in hob(home, "audit", "verify", "--head", told["head"].replace("3:", "9:")).stdout
    assert "a head is a number" in hob(home, "audit", "verify", "--head", "x").stderr
    connection = apsw.Connection(str(home / "hob.db"))
    connection.execute("DROP TRIGGER audit_keeps; UPDATE audit SET outcome = 'allow' WHERE seq = 2")
    connection.close()
    done = hob(home, "audit", "verify")
    assert (done.returncode, "entry 2 was changed" in done.stdout) == (1, True)


def test_audit_log_for_people_omits_ids_and_hashes(tmp_path: Path) -> None:
    async def ask() -> None:
        async with open_store(tmp_path, StoreSettings(), SystemClock()) as store:
            detail = '{"id": "a_7f3k9q2x", "call": "call_1", "hash": "675d0", "by": "local:owner"}'
            await store.audit.add(AuditEntry("approval", "exec", "allowed", "taint.risk", "owner", detail=detail))

    asyncio.run(ask())
    assert hob(tmp_path, "audit", "show").stdout.endswith("owner  a_7f3k9q2x, answered by you\n")
    assert "675d0" in hob(tmp_path, "audit", "show", "--json").stdout


def test_home_without_an_audit_log_is_reported_plainly(tmp_path: Path) -> None:
    done = hob(tmp_path, "audit", "verify")
    assert (done.returncode, done.stderr) == (1, f"hob: there is no Hob in {tmp_path} yet\n")
    assert "no Hob in" in hob(tmp_path, "audit", "show").stderr
