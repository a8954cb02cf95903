"""The service under a real systemd: a user's instance of its own, where this machine lets one be started."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SYSTEMD = Path("/lib/systemd/systemd")
DROP_IN = "[Service]\nWatchdogSec=3\nRestartSec=0.1\n"


@dataclass(frozen=True)
class User:
    """Somebody with a home directory and a systemd."""

    root: Path

    @property
    def environ(self) -> dict[str, str]:
        own = {"HOME": str(self.root), "XDG_RUNTIME_DIR": str(self.root / "run"), "HOB_GATEWAY_PORT": "0"}
        return {"PATH": os.environ["PATH"], "OPENAI_API_KEY": "x", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1", **own}

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env=self.environ, capture_output=True, text=True, timeout=60, check=False)

    def hob(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(sys.executable, "-m", "hob", *arguments)

    def shown(self, name: str) -> str:
        return self.run("systemctl", "--user", "show", "hob.service", f"--property={name}", "--value").stdout.strip()


def wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.1)


def groups() -> Path | None:
    """Where a control group for the instance can be made."""
    places = (Path("/sys/fs/cgroup/systemd"), Path("/sys/fs/cgroup"))
    return next((place for place in places if (place / "cgroup.procs").exists() and os.access(place, os.W_OK)), None)


@pytest.fixture
def user() -> Iterator[User]:
    place = groups()
    if not SYSTEMD.exists() or shutil.which("bwrap") is None or place is None:
        pytest.skip("no systemd of its own can be started here")
    group = place / f"hob-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(str(error))
    with tempfile.TemporaryDirectory(prefix="hob") as root:
        made = User(Path(root))
        (made.root / "run").mkdir(mode=0o700)
        # /run/systemd/system says that systemd is at work here, without which it starts no instance for a user
        inside = (
            "bwrap",
            "--die-with-parent",
            "--dev-bind",
            "/",
            "/",
            "--tmpfs",
            "/run",
            "--dir",
            "/run/systemd/system",
        )
        join = f'echo $$ > {group}/cgroup.procs; exec "$@"'
        process = subprocess.Popen(["/bin/sh", "-c", join, "sh", *inside, str(SYSTEMD), "--user"], env=made.environ)
        try:
            private = made.root / "run" / "systemd" / "private"
            wait(lambda: private.exists() or process.poll() is not None)
            if process.poll() is not None:
                pytest.skip("systemd does not start here")
            yield made
        finally:
            made.run("systemctl", "--user", "exit")
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            for folder in sorted((path for path in group.rglob("*") if path.is_dir()), reverse=True):
                folder.rmdir()
            group.rmdir()


@pytest.mark.full
def test_service_is_installed_started_restarted_and_removed(user: User) -> None:
    done = user.hob("service", "install", "--with-keys")
    assert (done.returncode, "active (running)" in done.stdout) == (0, True), done
    assert user.shown("StatusText").startswith("Ready: http://127.0.0.1:")
    assert user.hob("service", "install").stdout.count("wrote") == 0

    assert user.run("systemctl", "--user", "reload", "hob.service").returncode == 0
    assert user.shown("ActiveState") == "active"  # and not ended by the signal
    drop_in = user.root / ".config" / "systemd" / "user" / "hob.service.d" / "test.conf"
    drop_in.parent.mkdir()
    drop_in.write_text(DROP_IN)
    assert user.hob("service", "restart").returncode == 0
    first = int(user.shown("MainPID"))
    os.kill(first, signal.SIGSTOP)  # its event loop gives no sign of life any more
    wait(lambda: user.shown("NRestarts") == "1" and user.shown("ActiveState") == "active")
    os.kill(int(user.shown("MainPID")), signal.SIGKILL)
    wait(lambda: user.shown("NRestarts") == "2" and user.shown("ActiveState") == "active")

    (user.root / ".hob" / "config.toml").write_text("[gateway]\nprot = 1\n")
    refused = user.hob("service", "restart")
    assert (refused.returncode, "unknown key" in refused.stderr) == (2, True)
    assert user.hob("service", "status").returncode == 0  # the running one was left alone
    user.run("systemctl", "--user", "restart", "hob.service")
    assert user.shown("ExecMainStatus") == "2"
    assert user.shown("ActiveState") == "failed"  # wrong settings do not get right by starting again

    assert user.hob("service", "uninstall").returncode == 0
    assert user.shown("LoadState") == "not-found"
