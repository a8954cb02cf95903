"""Installed plug-ins, found by their entry points; none is loaded."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, distributions

from hob.core.values import dataclass

SUBSYSTEM, CHANNELS, TOOLS, HOOKS, MEMORY = (
    f"hob.{kind}" for kind in ("subsystems", "channels", "tools", "hooks", "memory")
)
OPENED = (SUBSYSTEM, CHANNELS, TOOLS, HOOKS, MEMORY)
"""Entry point groups that an open Hob uses."""
KINDS: Mapping[str, str] = {
    SUBSYSTEM: "feature",
    CHANNELS: "channel",
    TOOLS: "tools",
    HOOKS: "hook",
    MEMORY: "memory source",
    "hob.assistants": "assistant",
    "hob.providers": "provider",
}
"""All groups, each with the word for what it adds."""


@dataclass(frozen=True, slots=True)
class Installed:
    """An installed plug-in name. If several packages provide it, they conflict."""

    name: str
    packages: tuple[str, ...]
    version: str
    points: Mapping[str, EntryPoint]
    """The entry points by group."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the plug-in adds, in words."""
        return tuple(KINDS[group] for group in self.points)


def installed() -> Mapping[str, Installed]:
    """Return the plug-ins of installed packages by name; none is loaded."""
    found: dict[str, Installed] = {}
    packages = {each.name: each for each in reversed(list(distributions()))}  # the first on the path wins
    for package, entry in ((each, entry) for each in packages.values() for entry in each.entry_points):
        if entry.group in KINDS:
            known = found.setdefault(entry.name, Installed(entry.name, (), package.version, {}))
            names = tuple(dict.fromkeys((*known.packages, package.name)))
            found[entry.name] = replace(known, packages=names, points={**known.points, entry.group: entry})
    return dict(sorted(found.items()))
