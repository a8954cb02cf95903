"""Merging the layers of settings: defaults < file < environment < stored overrides < flags."""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast

from hob.config.coercion import INVALID
from hob.config.fields import fields_of, holds_secret, is_section, walk
from hob.config.file import FILE_NAME, ConfigFile, read_file
from hob.config.layers import LayerReader, Values, find_key, split_key
from hob.config.positions import KeyPath, dotted
from hob.config.problems import ConfigInvalid, ConfigLayer, ConfigProblem, FilePlace, Source, UnknownKey, find_nearest
from hob.core.settings import Secret
from hob.core.translation.language import translatable
from hob.core.values import dataclass

S = TypeVar("S")

_NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class Config:
    """The effective settings. Sections are looked up by class, values by dotted key."""

    sections: Mapping[str, type]
    home: Path
    path: Path
    """Path of the file, whether or not it exists."""
    warnings: tuple[ConfigProblem, ...]
    """Messages shown at every start."""
    notes: tuple[ConfigProblem, ...]
    """Messages shown only by `hob config check`."""
    _instances: Mapping[str, Any] = field(repr=False)
    _layers: "_Layers" = field(repr=False)

    def __getitem__(self, section: type[S]) -> S:
        """Return the section of this class. Raises KeyError if it was not loaded."""
        for name, known in self.sections.items():
            if known is section:
                return cast(S, self._instances[name])
        raise KeyError(section.__name__)

    def section(self, name: str) -> Any:
        """Return the section of this name. Raises KeyError."""
        return self._instances[name]

    def get(self, key: str) -> Any:
        """Return the value of a dotted key: a setting, an entry of a table, a whole section. Raises UnknownKey."""
        path, _ = find_key(self.sections, key)
        value = self._instances[path[0]]
        for depth, part in enumerate(path[1:], 1):
            if not isinstance(value, dict):
                value = getattr(value, part)
            elif part in value:
                value = value[part]
            else:
                near = find_nearest(part, value)
                raise UnknownKey(
                    [
                        ConfigProblem(
                            translatable("unknown key"), key, hint=dotted((*path[:depth], near)) if near else ""
                        )
                    ]
                )
        return value

    def origin(self, key: str) -> Source:
        """Return the layer a key's value came from, and where in it. Raises UnknownKey."""
        path, _ = find_key(self.sections, key)
        values = self._layers.merged()
        for length in range(len(path), 0, -1):
            if path[:length] in values:
                return values[path[:length]].source(path, self._layers.file)
        return Source(ConfigLayer.DEFAULT)

    def items(self) -> Iterator[tuple[str, Any, Source]]:
        """Yield every setting's dotted key, value and origin, in the order of declaration."""
        values = self._layers.merged()
        for path, _ in walk(self.sections):
            found = values.get(path)
            source = found.source(path, self._layers.file) if found else Source(ConfigLayer.DEFAULT)
            yield dotted(path), self._value(path), source

    def secrets(self) -> Iterator[tuple[str, Secret]]:
        """Yield every secret that is set, including those in lists and tables."""
        for path, setting in walk(self.sections):
            if holds_secret(setting.kind):
                yield from _secrets_in(path, self._value(path))

    def with_stored(self, stored: Mapping[str, str]) -> "Config":
        """Return the same settings with other stored overrides; nothing is read again.

        An override that no longer fits is ignored with a warning: it was valid when it was stored, and a newer Hob must
        still start.
        """
        reader = LayerReader(self.sections, self.home, self._layers.environ)
        read = reader.read_texts(stored, ConfigLayer.STORED)
        layers = replace(self._layers, stored={path: each for path, each in read.items() if each.value is not INVALID})
        instances = reader.build(layers.merged())
        if INVALID in instances.values():
            layers = replace(layers, stored={})
            instances = reader.build(layers.merged())
        ignored = [
            replace(each, reason=translatable("ignored: {reason}", reason=each.reason)) for each in reader.problems
        ]
        warnings = (*self._layers.warnings, *ignored)
        return replace(self, warnings=warnings, _instances=instances, _layers=layers)

    def read_again(self) -> "Config":
        """Return the settings as file and environment are now; stored overrides and flags stay.

        Raises ConfigInvalid.
        """
        layers = self._layers
        new = load_config(self.sections, home=self.home, environ=layers.environ)
        reader = LayerReader(self.sections, self.home, layers.environ)
        merged = replace(new._layers, stored=layers.stored, flags=layers.flags)  # noqa: SLF001 - of this very class
        return replace(new, _instances=reader.build(merged.merged()), _layers=merged)

    def with_sections(self, more: Mapping[str, type]) -> "Config":
        """Return the settings read again with these sections too. Raises ConfigInvalid."""
        return replace(self, sections={**self.sections, **more}).read_again()

    def _value(self, path: tuple[str, ...]) -> Any:
        value = self._instances[path[0]]
        for part in path[1:]:
            value = getattr(value, part)
        return value


@dataclass(frozen=True, slots=True)
class _Layers:
    """The values of each layer, so that another stored layer can be inserted."""

    file: ConfigFile | None
    environ: Mapping[str, str]
    warnings: tuple[ConfigProblem, ...]
    below: Values
    stored: Values
    flags: Values

    def merged(self) -> Values:
        return {**self.below, **self.stored, **self.flags}


def load_config(
    sections: Mapping[str, type],
    *,
    home: Path,
    environ: Mapping[str, str],
    stored: Mapping[str, str] = _NOTHING,
    flags: Mapping[str, str] = _NOTHING,
) -> Config:
    """Read and merge all layers. Raises ConfigInvalid with all problems found. Secrets are not read yet.

    `stored` and `flags` map dotted keys to texts; stored overrides are handled as in `Config.with_stored`.
    """
    path = home / FILE_NAME
    reader = LayerReader(sections, home, environ)
    file: ConfigFile | None = None
    below: Values = {}
    try:
        file = read_file(path)
    except ConfigInvalid as error:
        reader.problems.extend(error.problems)
    if file is not None:
        below.update(reader.read_table(file))
    below.update(reader.read_environment())
    layers = _Layers(file, environ, tuple(reader.warnings), below, {}, reader.read_texts(flags, ConfigLayer.FLAG))
    instances = reader.build(layers.merged())
    if reader.problems:
        raise ConfigInvalid(sorted(_add_positions(reader.problems, layers, path), key=_by_line))
    config = Config(sections, home, path, tuple(reader.warnings), tuple(reader.notes), instances, layers)
    return config.with_stored(stored) if stored else config


def _add_positions(problems: list[ConfigProblem], layers: _Layers, path: Path) -> Iterator[ConfigProblem]:
    """Give problems between keys, or of missing keys, the position of the nearest table."""
    for problem in problems:
        if problem.place or not problem.key:
            yield problem
        else:
            key = split_key(problem.key)
            place = _variable(layers, key, problem.reason)
            yield replace(problem, place=place or (layers.file.place(key) if layers.file else FilePlace(str(path))))


def _variable(layers: _Layers, key: KeyPath, reason: str) -> FilePlace | None:
    """Return the variable a wrong value comes from; for a rule between several keys, the one named in the reason."""
    given = {
        each: found.place
        for each, found in layers.merged().items()
        if found.layer is ConfigLayer.ENVIRONMENT and each[: len(key)] == key
    }
    named = [place for each, place in given.items() if each == key or str(each[-1]) in reason.split()]
    return next(iter(named), None)


def _by_line(problem: ConfigProblem) -> tuple[bool, int, int]:
    line, column = (problem.place.line, problem.place.column) if problem.place else (0, 0)
    return not line, line, column


def _secrets_in(path: KeyPath, value: Any) -> Iterator[tuple[str, Secret]]:
    if isinstance(value, Secret):
        yield dotted(path), value
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _secrets_in((*path, key), each)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _secrets_in((*path, index), each)
    elif is_section(type(value)):
        section: type = type(value)
        for name in fields_of(section):
            yield from _secrets_in((*path, name), getattr(value, name))
