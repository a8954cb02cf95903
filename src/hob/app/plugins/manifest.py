"""Manifests of plug-ins: what the owner confirmed, readable without loading a plug-in."""

import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import field, make_dataclass
from pathlib import Path
from typing import Any

from hob.app.plugins import MANIFESTS, KeptSettings
from hob.config.fields import fields_of, holds_secret, is_table, without_none
from hob.core.settings import Secret, setting
from hob.core.values import dataclass

_KINDS: Mapping[str, Any] = {"str": str, "int": int, "float": float, "bool": bool, "secret": Secret, "any": Any}
log = logging.getLogger(__name__)

Fields = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One plug-in as it was when enabled: its declarations, sections, and commands with their help."""

    name: str
    package: str
    version: str
    on: bool = True
    declares: tuple[str, ...] = ()
    sections: Mapping[str, Fields | None] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    carried: tuple[str, ...] = ()
    """Files that it keeps outside the database and backups include, even while it is off."""

    def values(self) -> dict[str, Any]:
        """Return its row in the file."""
        return {
            "name": self.name,
            "package": self.package,
            "version": self.version,
            "on": self.on,
            "declares": self.declares,
            "sections": self.sections,
            "commands": self.commands,
            "carried": self.carried,
        }

    def settings(self) -> Mapping[str, type]:
        """Return its sections, as far as known without loading it."""
        return {
            name: KeptSettings if fields is None or not self.on else _make_section(fields)
            for name, fields in self.sections.items()
        }


def read_manifests(home: Path) -> Mapping[str, Manifest]:
    """Return the manifests of this home by name. An unreadable file is logged and counts as empty."""
    try:
        text = (home / MANIFESTS).read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        return _log_unreadable(home, error)
    try:
        return {name: Manifest(**each) for name, each in _rows(text)}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        return _log_unreadable(home, error)


def sections_of_plugins(home: Path) -> Mapping[str, type]:
    """Return the sections of this home's plug-ins."""
    manifests = read_manifests(home).values()
    return {name: section for each in manifests for name, section in each.settings().items()}


def _rows(text: str) -> Sequence[tuple[str, dict[str, Any]]]:
    tuples = ("declares", "carried")
    return [
        (str(name), {**each, "name": name, **{key: tuple(each[key]) for key in tuples if key in each}})
        for name, each in json.loads(text).items()
    ]


def _log_unreadable(home: Path, error: Exception) -> Mapping[str, Manifest]:
    log.warning(
        "%s cannot be read, so every plug-in is off; `hob plugins enable` writes it anew: %s", home / MANIFESTS, error
    )
    return {}


def write_manifest(home: Path, manifest: Manifest) -> None:
    """Add or replace one manifest. Raises OSError."""
    rows = {name: each.values() for name, each in {**read_manifests(home), manifest.name: manifest}.items()}
    part = home / f"{MANIFESTS}.part"
    part.write_text(json.dumps(rows, indent=1, sort_keys=True) + "\n", "utf-8")
    part.chmod(0o600)
    part.replace(home / MANIFESTS)


def fields_in(section: type) -> Fields | None:
    """Return a section as data; None if its secrets could not be recognised without loading it."""
    if is_table(section) or any(
        holds_secret(each.kind) and _kind(each.kind) == "any" for each in fields_of(section).values()
    ):
        return None
    return [
        {
            "name": each.name,
            "kind": _kind(each.kind),
            "default": each.default if isinstance(each.default, (str, int, float, bool)) else None,
            "doc": each.rules.doc,
        }
        for each in fields_of(section).values()
    ]


def _kind(kind: Any) -> str:
    plain, _ = without_none(kind)
    return next((name for name, each in _KINDS.items() if each is plain), "any")


def _make_section(fields: Fields) -> type:
    rows = [(each["name"], _KINDS[each["kind"]] | None, setting(each["default"], each["doc"])) for each in fields]
    return make_dataclass("PluginSettings", rows, frozen=True)
