"""The settings as the API shows them."""

from collections.abc import Sequence
from typing import Any

from hob.config.fields import walk
from hob.config.loading import Config
from hob.config.positions import dotted
from hob.core.settings import Secret
from hob.gateway.answer_types import SettingAnswer


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
