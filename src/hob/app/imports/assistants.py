"""The assistants that Hob can import from: built-in ones, and the entry points of the group `hob.assistants`."""

import logging
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from hob.app.imports import chat_exports, kafclaw, nanobot, openclaw
from hob.app.imports.contents import Assistant
from hob.app.plugins.manifest import read_manifests
from hob.config.environment import find_home, process_environment
from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable

log = logging.getLogger(__name__)

GROUP = "hob.assistants"
OWN: tuple[Assistant, ...] = (
    openclaw.ASSISTANT, nanobot.ASSISTANT, kafclaw.ASSISTANT, chat_exports.CHATGPT, chat_exports.CLAUDE,
)  # fmt: skip


def assistants() -> Mapping[str, Assistant]:
    """Return all assistants by id: built-in ones, and those of enabled plug-ins, with an `Assistant` as entry point."""
    return {each.id: each for each in (*_plugins(), *OWN)}


def _plugins() -> Iterator[Assistant]:
    on = {name for name, each in read_manifests(find_home(process_environment())).items() if each.on}
    for entry in entry_points(group=GROUP) if on else ():
        if entry.name not in on:
            continue
        try:
            yield entry.load()
        except (ImportError, AttributeError) as error:
            log.warning("the assistant %s cannot be loaded: %s", entry.name, error)


def find_assistant(name: str) -> Assistant:
    """Return the assistant with this id. Raises InvalidRequest."""
    known = assistants()
    if name.lower() not in known:
        raise InvalidRequest(
            translatable(
                "Hob cannot take over from {name}; it can from {known}", name=name, known=", ".join(sorted(known))
            )
        )
    return known[name.lower()]


def find_here(environ: Mapping[str, str], home: Path) -> Iterator[tuple[Assistant, Path]]:
    """Yield the assistants whose folder exists in its usual place."""
    for each in assistants().values():
        for place in each.places(environ, home):
            if place.is_dir() and each.knows(place):
                yield each, place
                break
