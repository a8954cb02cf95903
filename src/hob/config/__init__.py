"""Settings: merged from defaults, file, environment, stored overrides and flags; every value knows its origin."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hob.config.editing import set_value as set_value
    from hob.config.editing import set_values as set_values
    from hob.config.editing import unset_value as unset_value
    from hob.config.environment import find_home as find_home
    from hob.config.environment import process_environment as process_environment
    from hob.config.loading import Config as Config
    from hob.config.loading import load_config as load_config
    from hob.config.manual import reference as reference
    from hob.config.problems import ConfigInvalid as ConfigInvalid
    from hob.config.problems import Layer as Layer
    from hob.config.problems import Place as Place
    from hob.config.problems import Problem as Problem
    from hob.config.problems import Source as Source
    from hob.config.problems import UnknownKey as UnknownKey

_HOMES = {
    "Config": "loading",
    "ConfigInvalid": "problems",
    "Layer": "problems",
    "Place": "problems",
    "Problem": "problems",
    "Source": "problems",
    "UnknownKey": "problems",
    "find_home": "environment",
    "load_config": "loading",
    "process_environment": "environment",
    "reference": "manual",
    "set_value": "editing",
    "set_values": "editing",
    "unset_value": "editing",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
