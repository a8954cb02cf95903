"""Detection of changed files that programs outside the sandbox will execute later; the owner is notified of them."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hob.config.loading import Config
from hob.guard.policy.places import Places
from hob.tools.sandbox.settings import SandboxSettings
from hob.tools.undo.snapshots.entries import Difference
from hob.workspace.settings import WorkspaceSettings

_LARGEST = 100_000  # bytes of a git config that are inspected
_RUNS = re.compile(
    r"^\s*(?:hookspath|sshcommand|fsmonitor|askpass|gitproxy|pager|editor|worktree|clean|smudge|process|textconv|driver)"
    r"\s*=|^\s*\[\s*(?:alias|credential|filter|diff|merge|include|includeif|protocol)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""Git settings that run programs or include other files (https://git-scm.com/docs/git-config)."""


def places_of(config: Config) -> Places:
    """Return the workspace, work repository and home by their real paths."""
    workspace = config[WorkspaceSettings]
    return Places(
        state=str(config.home.resolve()),
        workspace=str(workspace.path.resolve()),
        base=str(workspace.work.resolve()),
        home=str(Path.home()),
        outgoing=tuple(str(Path(each).expanduser().resolve()) for each in config[SandboxSettings].outgoing),
    )


def changed_executable_config(places: Places, changed: Mapping[str, Difference]) -> Sequence[str]:
    """Return those changed paths whose content other programs, or Hob itself, will execute or follow."""
    written = (
        path for path, what in changed.items() if what is not Difference.REMOVED and places.is_reported_change(path)
    )
    return [path for path in written if not Path(path).is_dir() and not _is_plain_git(Path(path))]


def _is_plain_git(path: Path) -> bool:
    """Return whether this is a git config with only the settings that git writes itself."""
    if path.name not in ("config", "config.worktree"):
        return False
    try:
        with path.open("rb") as file:
            text = file.read(_LARGEST + 1)
    except OSError:
        return False
    return len(text) <= _LARGEST and _RUNS.search(text.decode("utf-8", "replace")) is None
