"""Settings of the workspace: its folders."""

from pathlib import Path

from hob.core.settings import setting
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """The workspace: files included in every prompt, and where tools work."""

    path: Path = setting(Path("~/hob"), "Folder with the files included in every prompt (AGENTS.md, SOUL.md, …).")
    work_repo: Path | None = setting(
        None, "Folder where tools work and commands run; not set: work/ in the workspace.", stored=True
    )
    search_path: Path | None = setting(
        None, "Folder in which the dashboard looks for repositories; not set: where tools work.", stored=True
    )
    seed: bool = setting(True, "Write short templates into a new workspace, and make it a git repository.")

    @property
    def work(self) -> Path:
        """The folder where tools work."""
        return self.work_repo or self.path / "work"
