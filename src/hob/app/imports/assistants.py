"""The assistants that Hob can take over from: its own table, and the entry points of the group `hob.assistants`."""

import logging
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from hob.app.imports import nanobot, openclaw
from hob.app.imports.contents import Assistant
from hob.core.errors import InvalidRequest

log = logging.getLogger(__name__)

GROUP = "hob.assistants"
OWN: tuple[Assistant, ...] = (openclaw.ASSISTANT, nanobot.ASSISTANT)


def assistants() -> Mapping[str, Assistant]:
    """All by id: Hob's own, and those of installed packages, whose entry point is an `Assistant`."""
    return {each.id: each for each in (*_plugins(), *OWN)}


def _plugins() -> Iterator[Assistant]:
    for entry in entry_points(group=GROUP):
        try:
            yield entry.load()
        except (ImportError, AttributeError) as error:
            log.warning("the assistant %s cannot be loaded: %s", entry.name, error)


def find_assistant(name: str) -> Assistant:
    """The assistant of this id. Raises InvalidRequest."""
    known = assistants()
    if name.lower() not in known:
        raise InvalidRequest(f"Hob cannot take over from {name}; it can from {', '.join(sorted(known))}")
    return known[name.lower()]


def find_here(environ: Mapping[str, str], home: Path) -> Iterator[tuple[Assistant, Path]]:
    """Those that have a folder in their usual place."""
    for each in assistants().values():
        for place in each.places(environ, home):
            if place.is_dir() and each.knows(place):
                yield each, place
                break
