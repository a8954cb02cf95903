"""Models behind one port. One folder per wire; retries, prices and settings are shared."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hob.providers.opening import NotConnected, load_libraries, open_model
    from hob.providers.retrying import Retrying
    from hob.providers.settings import (
        ModelSettings,
        PriceSetting,
        SettingsPrices,
        describe,
        is_connected,
        model_name,
        settings_from_environ,
    )

_HOMES = {
    "ModelSettings": "settings",
    "NotConnected": "opening",
    "PriceSetting": "settings",
    "Retrying": "retrying",
    "SettingsPrices": "settings",
    "describe": "settings",
    "is_connected": "settings",
    "load_libraries": "opening",
    "model_name": "settings",
    "open_model": "opening",
    "settings_from_environ": "settings",
}

__all__ = [
    "ModelSettings",
    "NotConnected",
    "PriceSetting",
    "Retrying",
    "SettingsPrices",
    "describe",
    "is_connected",
    "load_libraries",
    "model_name",
    "open_model",
    "settings_from_environ",
]


def __getattr__(name: str) -> Any:
    """Load a name's module when it is first asked for: settings must not cost an event loop."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
