"""Reading each layer of settings by path: unknown keys and wrong values are problems, former names are warnings."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hob.config.coercion import UNKNOWN, Coercion, named_twice
from hob.config.environment import HOME_VARIABLE, PREFIX
from hob.config.fields import (
    NO_RULES,
    Setting,
    find_setting,
    is_table,
    path_now,
    table_setting,
    takes_anything,
    variable_name,
    variables,
    walk,
)
from hob.config.file import ConfigFile
from hob.config.positions import KeyPath, dotted, parse_key
from hob.config.problems import ConfigLayer, ConfigProblem, FilePlace, Source, UnknownKey, find_nearest
from hob.config.secrets import SecretSources
from hob.config.substitution import GivenText, substitute
from hob.core.translation.language import translatable

UNKNOWN_SECTION = translatable("unknown section")
NOT_SETTINGS = frozenset({HOME_VARIABLE, "HOB_TOKEN", "HOB_URL"})
"""Variables that are not settings: the home, and those by which API clients in the how-tos find the daemon."""
"""Variables with the prefix that name no setting."""


class LayerValue(NamedTuple):
    """A value given by a layer. Its position in the file is looked up only on demand."""

    layer: ConfigLayer
    value: Any
    place: FilePlace | None = None

    def source(self, path: KeyPath, file: ConfigFile | None) -> Source:
        """Return where it came from; `path` may lead to an entry inside the value."""
        if self.layer is ConfigLayer.FILE and file is not None:
            return Source(self.layer, file.place(path))
        return Source(self.layer, self.place)


Values = dict[KeyPath, LayerValue]


class LayerReader:
    """Reads layers against the declared sections and collects `problems`."""

    def __init__(self, sections: Mapping[str, type], home: Path, environ: Mapping[str, str]) -> None:
        self.sections = sections
        self.problems: list[ConfigProblem] = []
        self.warnings: list[ConfigProblem] = []
        self.notes: list[ConfigProblem] = []
        self._home = home
        self._environ = environ

    def read_table(self, file: ConfigFile) -> Values:
        """Return the file's values. A literal secret is noted, with a warning if others may read the file."""

        def report(path: KeyPath, reason: str, hint: str = "") -> None:
            if reason == UNKNOWN:
                hint = key_of_name(self.sections, path[-1]) or hint or nearest_key(self.sections, path)
            self.problems.append(ConfigProblem(reason, dotted(path), file.place(path), hint))

        coercion = Coercion(report, SecretSources(self._environ, self._home))
        values: Values = {}
        for name, raw in substitute(file.table, self._environ, report).items():
            if name not in self.sections:
                reason = UNKNOWN_SECTION if isinstance(raw, dict) else UNKNOWN
                report((name,), reason, find_nearest(name, self.sections))
            elif is_table(section := self.sections[name]):
                entries = coercion.value((name,), table_setting(name, section).kind, NO_RULES, raw)
                values[(name,)] = LayerValue(ConfigLayer.FILE, entries)
            elif not isinstance(raw, dict):
                coercion.value((name,), section, NO_RULES, raw)
            else:
                leaf_values = coercion.leaf_values((name,), section, raw)
                values.update({path: LayerValue(ConfigLayer.FILE, value) for path, value in leaf_values.items()})
        for old, new in coercion.former:
            self._warn_of_former(dotted(old), dotted(new), file.place(old))
        self._judge_secrets(file, coercion.plain_secrets)
        return values

    def read_environment(self) -> Values:
        """Return the values of variables named after a section and key. An empty variable counts as unset."""
        mine = [name for name in self._environ if name.startswith(PREFIX) and name not in NOT_SETTINGS]
        if not mine:
            return {}
        known = variables(self.sections)
        settings = dict(walk(self.sections))
        former = {
            variable_name((*path[:-1], setting.rules.formerly)): path
            for path, setting in settings.items()
            if setting.rules.formerly
        }
        values: Values = {}
        for name in sorted(mine):
            text = self._environ[name]
            path = known.get(name) or former.get(name)
            if path is None:
                self._refuse_variable(name, known)
            elif text.strip():
                if name in former and self._environ.get(variable_name(path), "").strip():
                    self.problems.append(ConfigProblem(named_twice(variable_name(path)), place=FilePlace(name)))
                elif name in former:
                    self._warn_of_former(name, variable_name(path), None)
                values[path] = self._read_text(settings[path], path, text, ConfigLayer.ENVIRONMENT, FilePlace(name))
        return values

    def read_texts(self, texts: Mapping[str, str], layer: ConfigLayer) -> Values:
        """Return values of a layer that maps dotted keys to texts. The stored layer may contain only settings declared
        as such.
        """
        values: Values = {}
        settings = dict(walk(self.sections)) if texts else {}
        for key, text in texts.items():
            path = split_key(key)
            if path not in settings and (now := path_now(self.sections, path)) in settings:
                path = now
                if dotted(path) in texts:
                    self.problems.append(ConfigProblem(named_twice(dotted(path)), key, FilePlace(layer)))
                self._warn_of_former(key, dotted(path), FilePlace(layer))
            if path not in settings:
                self.problems.append(ConfigProblem(UNKNOWN, key, FilePlace(layer), nearest_key(self.sections, path)))
            elif layer is ConfigLayer.STORED and not settings[path].rules.stored:
                self.problems.append(
                    ConfigProblem(translatable("this key cannot be changed at run time"), key, FilePlace(layer))
                )
            else:
                values[path] = self._read_text(settings[path], path, text, layer, FilePlace(layer))
        return values

    def build(self, values: Values) -> dict[str, Any]:
        """Return the filled sections by name."""

        def report(path: KeyPath, reason: str, hint: str) -> None:
            self.problems.append(ConfigProblem(reason, dotted(path), hint=hint))

        coercion = Coercion(report, SecretSources(self._environ, self._home))
        given = {path: found.value for path, found in values.items()}
        filled: dict[str, Any] = {}
        for name, section in self.sections.items():
            if is_table(section):
                filled[name] = coercion.table((name,), section, given.get((name,), {}))
            else:
                filled[name] = coercion.build((name,), section, given)
        return filled

    def _read_text(
        self, setting: Setting, path: KeyPath, text: str, layer: ConfigLayer, place: FilePlace
    ) -> LayerValue:
        def report(inner: KeyPath, reason: str, hint: str) -> None:
            self.problems.append(ConfigProblem(reason, dotted(inner), place, hint))

        base = self._home if layer is ConfigLayer.STORED else Path.cwd()
        coercion = Coercion(report, SecretSources(self._environ, base))
        value = coercion.value(path, setting.kind, setting.rules, GivenText(text))
        return LayerValue(layer, value, place if layer is ConfigLayer.ENVIRONMENT else None)

    def _refuse_variable(self, name: str, known: Mapping[str, object]) -> None:
        problem = ConfigProblem(
            translatable("this variable sets nothing"), place=FilePlace(name), hint=find_nearest(name, known)
        )
        strict = [section for section, kind in self.sections.items() if not takes_anything(kind)]
        belongs = any(name.startswith(f"{PREFIX}{section.upper()}_") for section in strict)
        (self.problems if belongs else self.warnings).append(problem)

    def _warn_of_former(self, old: str, new: str, place: FilePlace | None) -> None:
        self.warnings.append(ConfigProblem(translatable("{old} is called {new} now", old=old, new=new), place=place))

    def _judge_secrets(self, file: ConfigFile, plain: list[KeyPath]) -> None:
        for path in plain:
            reason = translatable(
                "the secret is in plain text in the file; refer to it by env:, file:, keyring: or command:"
            )
            self.notes.append(ConfigProblem(reason, dotted(path), file.place(path)))
        if plain and file.readable_by_others:
            reason = translatable(
                "the file holds a secret and others may read it; run: chmod 600 {path}", path=_quoted(file.path)
            )
            self.warnings.append(ConfigProblem(reason, place=FilePlace(str(file.path))))


def split_key(key: str) -> tuple[str, ...]:
    """Split a dotted key into parts, however malformed it is."""
    try:
        return parse_key(key)
    except ValueError:
        return tuple(key.split("."))


def find_key(sections: Mapping[str, type], key: str) -> tuple[tuple[str, ...], Setting]:
    """Return path and declaration of a dotted key. Raises UnknownKey with the nearest known key."""
    path = path_now(sections, split_key(key))
    setting = find_setting(sections, path)
    if setting is None:
        raise UnknownKey([ConfigProblem(UNKNOWN, key, hint=nearest_key(sections, path))])
    return path, setting


def key_of_name(sections: Mapping[str, type], name: str | int) -> str:
    """Return the key with this name if only one section has it."""
    same = [dotted(path) for path, _ in walk(sections) if path[-1] == name]
    return same[0] if len(same) == 1 else ""


def nearest_key(sections: Mapping[str, type], path: KeyPath) -> str:
    """Return the key that was probably meant: the only one of that name elsewhere, or one with almost the same
    spelling.
    """
    if same := key_of_name(sections, path[-1]):
        return same
    known = {dotted(each): each for each, _ in walk(sections)}
    if len(path) == 1 or path[0] not in sections:
        return find_nearest(dotted(path), sections if len(path) == 1 else known)
    beside = {dotted(each[1:]): name for name, each in known.items() if each[0] == path[0] and len(each) > 1}
    return beside.get(find_nearest(dotted(path[1:]), beside), "")


def _quoted(path: Path) -> str:
    from shlex import quote  # 6 ms, for a warning only

    return quote(str(path))
