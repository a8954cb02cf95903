"""Files the owner writes."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hob.workspace.bootstrap import BootstrapFiles as BootstrapFiles
    from hob.workspace.seeding import seed as seed
    from hob.workspace.settings import WorkspaceSettings as WorkspaceSettings

_HOMES = {
    "BootstrapFiles": "hob.workspace.bootstrap",
    "WorkspaceSettings": "hob.workspace.settings",
    "seed": "hob.workspace.seeding",
}
__all__ = ["BootstrapFiles", "WorkspaceSettings", "seed"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib  # PEP 562: naming one thing does not load its neighbours

    return getattr(importlib.import_module(_HOMES[name]), name)
