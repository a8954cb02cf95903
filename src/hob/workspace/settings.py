"""Settings of the workspace: where its folders are."""

from pathlib import Path

from hob.core.settings import setting
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """The owner's folder: identity files now; skills, hooks and notes later."""

    path: Path = setting(Path("~/hob"), "Folder with the files that every prompt shows (AGENTS.md, SOUL.md, …).")
    work_repo: Path | None = setting(
        None, "Folder where tools work and commands run; empty: work in the workspace.", stored=True
    )
    seed: bool = setting(True, "Write short templates into it when it is new, and make it a git repository.")

    @property
    def work(self) -> Path:
        """Where tools work."""
        return self.work_repo or self.path / "work"
