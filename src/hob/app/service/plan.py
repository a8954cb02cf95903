"""The service as values, for systemd and launchd alike: program, environment, folders, time to end."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass

ENVIRONMENT_FILE = "service.env"
"""Its name in the home: variables of the service, keys above all."""
MARK = "Written by `hob service install`"
"""Stands in what Hob wrote itself and may write again."""
EXTRA_SECONDS = 20.0
"""What stopping may take beyond the drain: sends under way, the API's open requests, closing the database."""


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """How Hob is run. `stop_seconds` is how long it may take to stop, `confined` whether it may give up privileges."""

    program: tuple[str, ...]
    home: Path
    path: str
    stop_seconds: float
    confined: bool = True

    @property
    def environment_file(self) -> Path:
        return self.home / ENVIRONMENT_FILE


def make_plan(home: Path, environ: Mapping[str, str], drain_seconds: float) -> ServicePlan:
    """The plan for the Hob that runs this. Raises NotConfigured for paths that no service file can hold."""
    search = environ.get("PATH", os.defpath)
    plan = ServicePlan(
        find_program(), home, _standing(search), drain_seconds + EXTRA_SECONDS, not _needs_setuid(search)
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
    """How this very Hob is started again: its script, or Python with the module (without the folder it is run in)."""
    script = Path(sys.executable).with_name("hob")
    start = (str(script),) if os.access(script, os.X_OK) else (sys.executable, "-P", "-m", "hob")
    return (*start, "serve")


def _standing(search: str) -> str:
    """The folders with programs that will be there tomorrow too: coding CLIs often lie in one of the user's own."""
    folders = (folder for folder in search.split(os.pathsep) if folder.startswith("/") and folder.isprintable())
    return os.pathsep.join(dict.fromkeys(folder for folder in folders if Path(folder).is_dir()))


def _needs_setuid(search: str) -> bool:
    """Whether the sandbox works here only with the right of its program to become root for a moment."""
    program = shutil.which("bwrap", path=search)
    return program is not None and bool(Path(program).stat().st_mode & 0o4000)
