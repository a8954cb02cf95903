"""Packages of others: found by their entry points, off until the owner enables them."""

from typing import Any

MANIFESTS = "plugins.json"
"""In the home: what the owner has confirmed of each."""


class KeptSettings(dict[str, Any]):
    """The settings of a plug-in that is off. They stay in the file; none is read."""

    def __init__(self, _: object = None) -> None:
        super().__init__()
