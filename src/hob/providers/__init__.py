"""Models behind one port. One folder per wire; retries, prices and settings are shared."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hob.providers.choice import Choice
    from hob.providers.media import Media, open_media
    from hob.providers.opening import load_libraries, open_model
    from hob.providers.price_table import PriceTable
    from hob.providers.prices import PriceList, open_prices
    from hob.providers.profiles import ModelProfiles
    from hob.providers.routing import Routing
    from hob.providers.settings import ModelSettings, PriceSetting, ProviderSettings

_HOMES = {
    "Choice": "choice",
    "Media": "media",
    "ModelProfiles": "profiles",
    "ModelSettings": "settings",
    "PriceList": "prices",
    "PriceSetting": "settings",
    "PriceTable": "price_table",
    "ProviderSettings": "settings",
    "Routing": "routing",
    "load_libraries": "opening",
    "open_media": "media",
    "open_model": "opening",
    "open_prices": "prices",
}

__all__ = [
    "Choice",
    "Media",
    "ModelProfiles",
    "ModelSettings",
    "PriceList",
    "PriceSetting",
    "PriceTable",
    "ProviderSettings",
    "Routing",
    "load_libraries",
    "open_media",
    "open_model",
    "open_prices",
]


def __getattr__(name: str) -> Any:
    """Load a name's module when it is first asked for: settings must not cost an event loop."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
