"""What the model may do: files, shell and more, each tool made from a typed function and kept within its bounds."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are loaded when first used: a settings class must not load the tools
    from hob.tools.declaring import Output as Output
    from hob.tools.declaring import Tools as Tools
    from hob.tools.declaring import tool as tool
    from hob.tools.groups import Group as Group
    from hob.tools.groups import Groups as Groups

_HOMES = {
    "Group": "hob.tools.groups",
    "Groups": "hob.tools.groups",
    "Output": "hob.tools.declaring",
    "Tools": "hob.tools.declaring",
    "tool": "hob.tools.declaring",
}
__all__ = ["Group", "Groups", "Output", "Tools", "tool"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
