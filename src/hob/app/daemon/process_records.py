"""Records of the processes this Hob has started, so that the next one can end those that survived a `kill -9`."""

import json
import logging
import os
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hob.core.events.tracing import CONTENT_FREE

FOLDER = "run"
"""The folder in the home for files that end with the process."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_END_SECONDS = 5.0
log = logging.getLogger(__name__)


class RunningProcesses:
    """Implements `ProcessRecords` over this home, whose lock the caller holds."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = home / FOLDER

    def add(self, pid: int, folder: Path | None = None) -> None:
        if not (began := start_time(pid)):
            return  # already ended
        record = json.dumps({"began": began, "folder": str(folder or "")})
        with suppress(OSError):  # on a full disk the process is ended only by its closed pipe
            self._folder.mkdir(mode=0o700, exist_ok=True)
            (self._folder / str(pid)).write_text(record, "utf-8")

    def remove(self, pid: int) -> None:
        with suppress(OSError):
            (self._folder / str(pid)).unlink(missing_ok=True)

    def reap(self) -> None:
        """End the process trees that an earlier Hob left running, and remove their run folders."""
        for record in self._folder.glob("*") if self._folder.is_dir() else ():
            with suppress(OSError, ValueError, TypeError, KeyError):  # a record that was half-written when Hob died
                told, pid = json.loads(record.read_bytes()), int(record.name)
                if start_time(pid) == told["began"]:
                    log.warning("process %d of an earlier Hob still ran, and was ended", pid, extra=CONTENT_FREE)
                    kill_tree(pid)
                    _wait_for_end(pid)
                folder = Path(told["folder"])
                if self._home in folder.parents:
                    shutil.rmtree(folder, ignore_errors=True)
            with suppress(OSError):
                record.unlink()


def start_time(pid: int) -> str:
    """Return when this process started, unique across reuse of its pid; empty if there is none."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        if _BOOT.exists():
            return ""
        done = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return done.stdout.strip()
    return "" if fields[0] in "ZX" else f"{_BOOT.read_text().strip()} {fields[19]}"


def kill_tree(pid: int) -> None:
    """Kill a process, its group and its descendants. Each is stopped first so that it cannot fork meanwhile."""
    tree = list(_stop_tree(pid))
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)
    for each in tree:
        _send_signal(each, signal.SIGKILL)


def _wait_for_end(pid: int) -> None:
    """Wait for a killed process, which until its end may write into its folder. Only Linux can wait for another's."""
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):
            handle = os.pidfd_open(pid)
            try:
                select.select([handle], [], [], _END_SECONDS)
            finally:
                os.close(handle)


def _stop_tree(pid: int) -> Iterator[int]:
    _send_signal(pid, signal.SIGSTOP)
    yield pid
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text("ascii").split():
                yield from _stop_tree(int(child))


def _send_signal(pid: int, number: signal.Signals) -> None:
    with suppress(OSError):
        os.kill(pid, number)
