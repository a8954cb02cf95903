"""The identity files of a home: created if missing, accepted at the first start, then read."""

import logging
from pathlib import Path

from hob.core.ids import digest
from hob.workspace.acceptance import FILE, AcceptedFiles
from hob.workspace.bootstrap import BootstrapFiles
from hob.workspace.seeding import TEMPLATES, seed
from hob.workspace.settings import WorkspaceSettings

log = logging.getLogger(__name__)


def find_files(home: Path, workspace: Path, *, warns: bool = True) -> tuple[BootstrapFiles, AcceptedFiles]:
    """Return the files and what the owner accepted of them; all of them, if nothing was recorded yet."""
    accepted = AcceptedFiles(home / FILE)
    files = BootstrapFiles(workspace, accepted, warns=warns)
    files.accept_first()
    return files, accepted


def open_files(home: Path, settings: WorkspaceSettings, *, may_seed: bool) -> BootstrapFiles:
    """Return the files, with templates at the first start. An unwritable folder does not prevent the start."""
    files, accepted = find_files(home, settings.path)
    if settings.seed and may_seed:
        try:
            if not files.load():  # before they are written: a crash in between must not leave them untrusted
                accepted.accept({name: digest(text) for name, text in TEMPLATES.items()})
            seed(settings.path)
        except OSError as error:
            log.warning("the workspace %s cannot be made: %s; see workspace.path", settings.path, error)
    return files
