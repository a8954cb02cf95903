"""The service plan for systemd and launchd: program, environment, folders, stop time."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass

ENVIRONMENT_FILE = "service.env"
"""The environment file in the home, above all for API keys."""
MARK = "Written by `hob service install`"
"""Marks files that Hob wrote and may overwrite."""
EXTRA_SECONDS = 20.0
"""Stop time beyond the drain: sends in progress, open API requests, closing the database."""


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """How Hob is run. `stop_seconds` is the time it may take to stop, `confined` whether it may give up privileges."""

    program: tuple[str, ...]
    home: Path
    path: str
    stop_seconds: float
    confined: bool = True

    @property
    def environment_file(self) -> Path:
        return self.home / ENVIRONMENT_FILE


def make_plan(home: Path, environ: Mapping[str, str], drain_seconds: float) -> ServicePlan:
    """Return the plan for this Hob. Raises NotConfigured for paths that no service file can hold."""
    search = environ.get("PATH", os.defpath)
    plan = ServicePlan(
        find_program(), home, _existing_folders(search), drain_seconds + EXTRA_SECONDS, not _needs_setuid(search)
    )
    for text in (*plan.program, str(plan.home)):
        if any(ord(c) < 0x20 or ord(c) == 0x7F for c in text):
            raise NotConfigured(
                translatable(
                    "{text!r} holds a control character, which no service file can; move it elsewhere", text=text
                )
            )
    return plan


def find_program() -> tuple[str, ...]:
    """Return how to start this Hob again: its script, or Python with the module (-P: without the working directory)."""
    script = Path(sys.executable).with_name("hob")
    start = (str(script),) if os.access(script, os.X_OK) else (sys.executable, "-P", "-m", "hob")
    return (*start, "serve")


def _existing_folders(search: str) -> str:
    """Return the existing absolute folders of PATH; coding CLIs are often installed in one of the user's own."""
    folders = (folder for folder in search.split(os.pathsep) if folder.startswith("/") and folder.isprintable())
    return os.pathsep.join(dict.fromkeys(folder for folder in folders if Path(folder).is_dir()))


def _needs_setuid(search: str) -> bool:
    """Return whether the sandbox works here only because its program is setuid root."""
    program = shutil.which("bwrap", path=search)
    return program is not None and bool(Path(program).stat().st_mode & 0o4000)
