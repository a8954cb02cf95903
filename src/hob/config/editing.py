"""Changing keys of the configuration file while preserving comments and layout."""

import os
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

from hob.config.coercion import native
from hob.config.fields import walk
from hob.config.file import ConfigFile, parse, read_file
from hob.config.layers import LayerReader, find_key, split_key
from hob.config.positions import dotted
from hob.config.problems import ConfigInvalid, ConfigProblem, FilePlace, UnknownKey
from hob.config.whole_file import write_whole
from hob.core.translation.language import translatable

HEADER = "# Settings of Hob. `hob config show --origin` lists every key; a wrong one is named when Hob starts.\n"

Table = Any
"""A table of tomlkit or plain dicts: both are changed the same way."""

Change = Callable[[Table, Callable[[], Table]], None]
"""Changes a document; the second argument creates the tables it needs."""


def set_value(path: Path, key: str, text: str, *, sections: Mapping[str, type], environ: Mapping[str, str]) -> None:
    """Set a dotted key in the file, creating file and folder if needed; afterwards only the owner may read it.

    The text is parsed by the key's type. Raises UnknownKey, and ConfigInvalid if the value does not fit, the file
    cannot be read, or its layout cannot be preserved; the file is then unchanged.
    """
    set_values(path, {key: text}, sections=sections, environ=environ)


def set_values(
    path: Path, texts: Mapping[str, str | None], *, sections: Mapping[str, type], environ: Mapping[str, str]
) -> None:
    """Set several dotted keys of the file atomically; keys with None are removed. Raises as `set_value`."""
    keyed: list[tuple[str, ...]] = []
    values: list[tuple[tuple[str, ...], Any]] = []
    file = read_file(path)
    for key, text in texts.items():
        keys, setting = find_key(sections, key)
        if any(len(each) > len(keys) and each[: len(keys)] == keys for each, _ in walk(sections)):
            raise UnknownKey([ConfigProblem(translatable("this is a section; name a key in it"), key)])
        if text is not None or (file is not None and _has_key(file.table, keys)):
            keyed.append(keys)
            values.append((keys, None if text is None else native(setting.kind, text)))

    def change(table: Table, make: Callable[[], Table]) -> None:
        for keys, value in values:
            if value is None:
                _take_out(table, keys)
            else:
                _put_in(table, keys, value, make, path)

    if values:
        _edit(path, keyed, change, sections, environ)


def _put_in(table: Table, keys: tuple[str, ...], value: Any, make: Callable[[], Table], path: Path) -> None:
    for part in keys[:-1]:
        if part not in table:
            table[part] = make()
        table = table[part]
        if not isinstance(table, dict):
            raise ConfigInvalid(
                [
                    ConfigProblem(
                        translatable("{part} is not a table in the file", part=part), dotted(keys), FilePlace(str(path))
                    )
                ]
            )
    table[keys[-1]] = value


def _take_out(table: Table, keys: tuple[str, ...]) -> None:
    """Remove a key, and the tables left empty by it."""
    trail = [table]
    for part in keys[:-1]:
        trail.append(trail[-1][part])
    del trail[-1][keys[-1]]
    for part, around, emptied in reversed(list(zip(keys, trail, trail[1:], strict=False))):
        if not _is_bare(emptied):
            break
        del around[part]


def unset_value(path: Path, key: str, *, sections: Mapping[str, type], environ: Mapping[str, str]) -> bool:
    """Remove a dotted key, even an unknown one; return whether it was there. Raises UnknownKey, ConfigInvalid."""
    keys = split_key(key)
    file = read_file(path)
    if file is None or not _has_key(file.table, keys):
        find_key(sections, key)
        return False

    _edit(path, [keys], lambda table, _: _take_out(table, keys), sections, environ)
    return True


def _edit(
    path: Path,
    keyed: Sequence[tuple[str, ...]],
    change: Change,
    sections: Mapping[str, type],
    environ: Mapping[str, str],
) -> None:
    target = path.resolve()  # a link (into a dotfiles folder, say) stays a link
    seen = _signature(target)
    old = read_file(path)
    expected: dict[str, Any] = deepcopy(old.table) if old else {}
    change(expected, dict)
    new_text = _rewrite(path, old.text if old else HEADER, change, expected)
    if new_text is None:
        reason = translatable("the file's layout cannot be kept while changing this key; please edit the file by hand")
        raise ConfigInvalid([ConfigProblem(reason, ", ".join(map(dotted, keyed)), FilePlace(str(path)))])
    if any(_has_key(expected, keys) for keys in keyed):
        new = ConfigFile(path, new_text, parse(path, new_text), 0o600)
        _refuse_worse(keyed, old, new, sections, environ)
    if old is not None and b"\r\n" in target.read_bytes():
        new_text = new_text.replace("\n", "\r\n")
    _write(target, new_text, seen)


def _rewrite(path: Path, text: str, change: Change, expected: Table) -> str | None:
    """Return the changed text, or None if tomlkit cannot make the change correctly.

    tomlkit mishandles some layouts (a section in dotted keys that gets a table, for one), so its output is parsed again
    and must contain exactly the old values and the change. If a headed table fails, an inline one may work.
    """
    import tomlkit  # 60 ms that only this command should pay
    from tomlkit.exceptions import TOMLKitError

    for make in (tomlkit.table, tomlkit.inline_table):
        try:
            document = tomlkit.parse(text)
            change(document, make)
            new_text = tomlkit.dumps(document)
            if _without_empty_tables(parse(path, new_text)) == _without_empty_tables(expected):
                return new_text
        except (TOMLKitError, ConfigInvalid, LookupError, TypeError, ValueError):
            continue
    return None


def _refuse_worse(
    keyed: Sequence[tuple[str, ...]],
    old: ConfigFile | None,
    new: ConfigFile,
    sections: Mapping[str, type],
    environ: Mapping[str, str],
) -> None:
    """Raise ConfigInvalid for problems at these keys, and for new problems elsewhere."""
    changed = tuple(map(dotted, keyed))
    known = {(each.key, each.reason) for each in _problems(old, sections, environ)} if old else set()
    worse = [
        replace(each, place=None)  # the place is in a file that will not be written
        for each in _problems(new, sections, environ)
        if (each.key, each.reason) not in known
        or each.key in changed
        or each.key.startswith(tuple(f"{key}{mark}" for key in changed for mark in ".["))
    ]
    if worse:
        raise ConfigInvalid(worse)


def _problems(file: ConfigFile, sections: Mapping[str, type], environ: Mapping[str, str]) -> list[ConfigProblem]:
    reader = LayerReader(sections, file.path.parent, environ)
    reader.build(reader.read_table(file))
    return reader.problems


def _has_key(table: Table, keys: tuple[str, ...]) -> bool:
    """Whether the parsed document has this key."""
    for part in keys:
        if not isinstance(table, dict) or part not in table:
            return False
        table = table[part]
    return True


def _is_bare(table: Table) -> bool:
    """Whether the table is empty, including comments."""
    return not table and not (hasattr(table, "trivia") and (table.trivia.comment or table.as_string().strip()))


def _without_empty_tables(value: Any) -> Any:
    """Remove empty tables: a plain table disappears with its last key, one with a comment does not."""
    if not isinstance(value, dict):
        return value
    pruned = {key: _without_empty_tables(each) for key, each in value.items()}
    return {key: each for key, each in pruned.items() if each != {}}


def _signature(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _write(path: Path, text: str, seen: tuple[int, int, int] | None) -> None:
    """Replace the file atomically and durably. Raises ConfigInvalid if it changed since it was read, or cannot be
    written.
    """

    def check() -> None:
        if _signature(path) != seen:
            told = translatable("somebody else changed the file just now; try again")
            raise ConfigInvalid([ConfigProblem(told, place=FilePlace(str(path)))])

    try:
        write_whole(path, text.encode(), ready=check)
        _sync_folder(path.parent)
    except OSError as error:
        raise ConfigInvalid(
            [
                ConfigProblem(
                    translatable("cannot be written: {reason}", reason=error.strerror), place=FilePlace(str(path))
                )
            ]
        ) from error


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
