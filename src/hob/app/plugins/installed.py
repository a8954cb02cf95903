"""Installed plug-ins, by their entry points; nothing of them is loaded."""

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, distributions

from hob.core.values import dataclass

SUBSYSTEM, CHANNELS, TOOLS, HOOKS, MEMORY = (
    f"hob.{kind}" for kind in ("subsystems", "channels", "tools", "hooks", "memory")
)
OPENED = (SUBSYSTEM, CHANNELS, TOOLS, HOOKS, MEMORY)
"""Entry point groups of what an open Hob has."""
KINDS: Mapping[str, str] = {
    SUBSYSTEM: "feature",
    CHANNELS: "channel",
    TOOLS: "tools",
    HOOKS: "hook",
    MEMORY: "memory source",
    "hob.assistants": "assistant",
    "hob.providers": "provider",
}
"""All groups, and what each brings, in a word."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What installed packages call one name. More than one `package` is a clash."""

    name: str
    packages: tuple[str, ...]
    version: str
    points: Mapping[str, EntryPoint]
    """By group."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """What it brings."""
        return tuple(KINDS[group] for group in self.points)


def installed() -> Mapping[str, Installed]:
    """All plug-ins of installed packages by name; nothing of them is loaded."""
    found: dict[str, Installed] = {}
    packages = {each.name: each for each in reversed(list(distributions()))}  # what stands first on the path counts
    for package, entry in ((each, entry) for each in packages.values() for entry in each.entry_points):
        if entry.group in KINDS:
            known = found.setdefault(entry.name, Installed(entry.name, (), package.version, {}))
            names = tuple(dict.fromkeys((*known.packages, package.name)))
            found[entry.name] = replace(known, packages=names, points={**known.points, entry.group: entry})
    return dict(sorted(found.items()))
