"""Writing imported settings into the file, and keys beside it. Existing values stay, wherever they are set."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hob.app.imports.contents import SourceKey, SourceSetting
from hob.app.imports.plan import Item, ItemKind, ItemStatus
from hob.app.settings.secret_stores import FOLDER, file_name, store_in_file
from hob.app.settings.sections import SECTIONS
from hob.config.editing import set_value
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.config.problems import ConfigInvalid, ConfigLayer, UnknownKey
from hob.core.errors import NotConfigured
from hob.core.settings import Secret
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.catalog.catalog import find_provider


@dataclass(frozen=True, slots=True)
class _CurrentValue:
    """The current value of a key. `outranked`: it is set outside the file, so the file has no effect."""

    value: Any
    outranked: str = ""


def plan_settings(wanted: Sequence[SourceSetting | SourceKey], config: Config) -> Iterator[Item]:
    """Yield an item per setting; if several set the same key, the first wins."""
    planned: dict[str, SourceSetting | SourceKey] = {}
    for each in wanted:
        first = planned.setdefault(each.key, each)
        item = _item(each)
        if first is not each:
            same = isinstance(each, SourceKey) and isinstance(first, SourceKey) and first.value == each.value
            if not same:
                yield item.ended(ItemStatus.CONFLICT, translatable("{source} sets it", source=first.source))
            continue
        yield _with_status(item, each, config)


def put_setting(item: Item, config: Config) -> Item:
    """Write a planned setting, which is checked again against `config`."""
    wanted = item.what
    if not isinstance(wanted, SourceSetting | SourceKey):
        raise TypeError(item)
    item = _with_status(_item(wanted), wanted, config)
    if item.status is not ItemStatus.NEW:
        return item
    try:
        text = (
            store_in_file(config.home, wanted.key, wanted.value)
            if isinstance(wanted, SourceKey)
            else _as_toml(wanted, config)
        )
        set_value(config.path, wanted.key, text, sections=SECTIONS, environ=process_environment())
    except ConfigInvalid as error:
        reason = "; ".join(problem.reason for problem in error.problems)
        return item.ended(ItemStatus.FAILED, translatable("Hob's settings do not take it: {reason}", reason=reason))
    except NotConfigured as error:
        return item.ended(ItemStatus.FAILED, str(error))
    return item.ended(ItemStatus.DONE)


def _item(wanted: SourceSetting | SourceKey) -> Item:
    if isinstance(wanted, SourceKey):
        return Item(ItemKind.SECRET, wanted.source, wanted.key, ItemStatus.NEW, what=wanted)
    value = wanted.value if isinstance(wanted.value, str) else ", ".join(wanted.value)
    return Item(ItemKind.SETTING, wanted.source, f"{wanted.key} = {value}", ItemStatus.NEW, what=wanted)


def _with_status(item: Item, wanted: SourceSetting | SourceKey, config: Config) -> Item:
    now = _current_value(config, wanted.key)
    if isinstance(wanted, SourceKey):
        return _key_with_status(item, wanted, config, now)
    if now.value in (None, "", [], {}):
        return item
    if isinstance(now.value, Secret):
        same = f"{now.value.reference}" == wanted.value
        return (
            item.ended(ItemStatus.THERE)
            if same
            else item.ended(ItemStatus.CONFLICT, translatable("a key is set already; it stays"))
        )
    if wanted.adds:
        if not [each for each in wanted.value if each not in now.value]:
            return item.ended(ItemStatus.THERE)
        return (
            item.ended(ItemStatus.CONFLICT, translatable("{outranked} sets it; that stays", outranked=now.outranked))
            if now.outranked
            else item
        )
    if now.value == (list(wanted.value) if isinstance(wanted.value, tuple) else wanted.value):
        return item.ended(ItemStatus.THERE)
    shown = ", ".join(now.value) if isinstance(now.value, list) else str(now.value)
    return item.ended(ItemStatus.CONFLICT, translatable("it is {shown} here; that stays", shown=shown))


def _key_with_status(item: Item, wanted: SourceKey, config: Config, now: _CurrentValue) -> Item:
    """Return the key's item with its status. Nothing that is shown reveals a key."""
    known = find_provider(wanted.key.split(".")[2])
    environ = process_environment()
    found = [environ[name].strip() for name in (known.keys if known else ()) if environ.get(name, "").strip()]
    if isinstance(now.value, Secret):
        try:
            found = [now.value.reveal().strip()]
        except NotConfigured:
            return item.ended(
                ItemStatus.CONFLICT, translatable("its setting refers to a key that cannot be read; see `hob doctor`")
            )
    if found:
        same = found[0] == wanted.value
        return (
            item.ended(ItemStatus.THERE)
            if same
            else item.ended(ItemStatus.CONFLICT, translatable("there is another key; it stays"))
        )
    file = config.home / FOLDER / file_name(wanted.key)
    if file.exists() and _read_text(file) != wanted.value:
        return item.ended(ItemStatus.CONFLICT, translatable("{file} contains another key; it stays", file=str(file)))
    return item


def _read_text(file: Path) -> str:
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _current_value(config: Config, key: str) -> _CurrentValue:
    try:
        value, origin = config.get(key), config.origin(key)
    except UnknownKey:
        return _CurrentValue(None)
    if origin.layer is ConfigLayer.DEFAULT:
        return _CurrentValue(None)
    return _CurrentValue(value, "" if origin.layer is ConfigLayer.FILE else str(origin))


def _as_toml(wanted: SourceSetting, config: Config) -> str:
    """Return the value as TOML text, with `${` escaped."""
    if isinstance(wanted.value, str):
        return _escaped(wanted.value)
    before = _current_value(config, wanted.key).value or []
    entries = [*before, *(each for each in wanted.value if each not in before)]
    quoted = (json.dumps(_escaped(each), ensure_ascii=False) for each in entries)  # JSON strings are valid TOML
    return f"[{', '.join(quoted)}]"


def _escaped(text: str) -> str:
    return text.replace("${", "$${")
