"""Files the owner writes."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are loaded when first used, so that settings cost no file access
    from hob.workspace.acceptance import AcceptedFiles as AcceptedFiles
    from hob.workspace.bootstrap import BootstrapFiles as BootstrapFiles
    from hob.workspace.seeding import make_work_repository as make_work_repository
    from hob.workspace.seeding import seed as seed
    from hob.workspace.settings import WorkspaceSettings as WorkspaceSettings

_HOMES = {
    "AcceptedFiles": "hob.workspace.acceptance",
    "BootstrapFiles": "hob.workspace.bootstrap",
    "WorkspaceSettings": "hob.workspace.settings",
    "make_work_repository": "hob.workspace.seeding",
    "seed": "hob.workspace.seeding",
}
__all__ = ["AcceptedFiles", "BootstrapFiles", "WorkspaceSettings", "make_work_repository", "seed"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
