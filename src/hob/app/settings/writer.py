"""The settings as the API shows them, and changing them while Hob runs: checked, stored, audited, applied at once."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hob.app.settings.reload import SettingsReload
from hob.config.fields import walk
from hob.config.loading import Config
from hob.config.positions import dotted
from hob.config.problems import ConfigLayer, UnknownKey
from hob.core.clock import Clock
from hob.core.errors import InvalidRequest
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import new_event_id, new_span_id, new_trace_id
from hob.core.settings import Secret
from hob.core.translation.language import translatable
from hob.gateway.answer_types import SettingAnswer
from hob.store.audit.audit import AuditEntry
from hob.store.store import Store
from hob.workspace.settings import WorkspaceSettings


class SettingsWriter:
    """Changes only keys that are declared as changeable. Stored values override file and environment."""

    def __init__(self, store: Store, reloading: SettingsReload, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._reloading = reloading

    async def change(self, values: Mapping[str, Any], by: str) -> Sequence[SettingAnswer]:
        """Store these values, all or none; null removes a stored value. Return the settings afterwards.

        Raises InvalidRequest, which names the key.
        """
        before = await self._store.settings.load()
        texts = {key: None if value is None else _as_text(key, value) for key, value in values.items()}
        stored = {key: text for key, text in {**before, **texts}.items() if text is not None}
        _check_changes(self._reloading.config, stored, texts)
        entries = [
            AuditEntry(
                "setting", key, "unset" if text is None else "set", sender="owner",
                detail=json.dumps({"value": text, "before": before.get(key), "who": by}),
            )
            for key, text in texts.items()
        ]  # fmt: skip
        await self._store.settings.change(texts, entries, [self._event(key, text) for key, text in texts.items()])
        self._reloading.store(stored)
        return settings_view(self._reloading.config)

    def _event(self, key: str, text: str | None) -> TimelineEvent:
        """Make the event that tells open pages to refresh their settings."""
        told, now = key if text is None else f"{key} = {text}", self._clock.now().timestamp()
        return TimelineEvent(
            new_event_id(), new_trace_id(), new_span_id(), None, now, EventKind.SYSTEM, "setting",
            "ok" if text is not None else "unset", text=told,
        )  # fmt: skip


def _check_changes(config: Config, stored: Mapping[str, str], changed: Mapping[str, str | None]) -> None:
    old = set(config.warnings)
    new = config.with_stored(stored)
    for key, text in changed.items():
        try:
            origin = new.origin(key)
        except UnknownKey as error:
            raise InvalidRequest(str(error)) from error
        wrong = next((each for each in new.warnings if each.key == key and each not in old), None)
        if wrong is not None:
            raise InvalidRequest(f"{key}: {wrong.reason.removeprefix('ignored: ')}")
        if text is not None and origin.layer is not ConfigLayer.STORED:
            told = translatable(
                "{key} does not fit the other settings, or a flag of the command line outranks it", key=key
            )
            raise InvalidRequest(told)
    work = new[WorkspaceSettings].work
    if "workspace.work_repo" in changed and (trouble := _folder_problem(work, config.home)):
        raise InvalidRequest(trouble)


def _folder_problem(folder: Path, home: Path) -> str:
    """Return why tools could not work in this folder, or an empty text. A missing folder is created when needed."""
    there = folder.expanduser().resolve()
    if there.is_relative_to(home.resolve()) or home.resolve().is_relative_to(there):
        return translatable("{folder} belongs to Hob's own state, which no tool may touch", folder=folder)
    nearest = next(each for each in (there, *there.parents) if os.path.lexists(each))
    if not nearest.is_dir():
        return translatable("{folder} is not a folder", folder=nearest)
    if not os.access(nearest, os.W_OK | os.X_OK):
        return translatable("{folder} cannot be written", folder=nearest)
    return ""


def _as_text(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list):
        return json.dumps(value)  # also valid TOML
    raise InvalidRequest(translatable("{key}: give a text, a number, a list of texts, true, false or null", key=key))


def settings_view(config: Config) -> Sequence[SettingAnswer]:
    """Return every setting; of a secret, only whether and where it is set."""
    rules = {dotted(path): each for path, each in walk(config.sections)}
    return [
        {
            "key": key,
            "value": _plain(value),
            "secret": isinstance(value, Secret),
            "origin": str(source),
            "layer": source.layer.value,
            "doc": rules[key].rules.doc,
            "changeable": rules[key].rules.stored,
            "one_of": list(rules[key].rules.one_of),
            "at_least": rules[key].rules.at_least,
            "at_most": rules[key].rules.at_most,
            "kind": _kind(rules[key].kind),
        }
        for key, value, source in config.items()
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, Secret):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return str(value)


def _kind(kind: Any) -> str:
    text = getattr(kind, "__name__", str(kind)).replace(" | None", "")
    return next((each for each in ("bool", "int", "float", "Path") if each in text), "str")
