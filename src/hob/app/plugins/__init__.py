"""Plug-ins: third-party packages, found by entry points, off until the owner enables them."""

from typing import Any

MANIFESTS = "plugins.json"
"""The file in the home with what the owner confirmed about each plug-in."""


class KeptSettings(dict[str, Any]):
    """The settings of a disabled plug-in: they stay in the file, but are not read."""

    def __init__(self, _: object = None) -> None:
        super().__init__()
