"""Models behind one port. One folder per wire; retries, prices and settings are shared."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hob.providers.choice import Choice
    from hob.providers.opening import load_libraries, open_model
    from hob.providers.routing import Routing
    from hob.providers.settings import ModelSettings, PriceSetting, ProviderSettings, SettingsPrices

_HOMES = {
    "Choice": "choice",
    "ModelSettings": "settings",
    "PriceSetting": "settings",
    "ProviderSettings": "settings",
    "Routing": "routing",
    "SettingsPrices": "settings",
    "load_libraries": "opening",
    "open_model": "opening",
}

__all__ = [
    "Choice",
    "ModelSettings",
    "PriceSetting",
    "ProviderSettings",
    "Routing",
    "SettingsPrices",
    "load_libraries",
    "open_model",
]


def __getattr__(name: str) -> Any:
    """Load a name's module when it is first asked for: settings must not cost an event loop."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
