"""Models behind one port. One folder per wire; retries, prices and settings are shared."""

from hob.providers.opening import NotConnected, open_model
from hob.providers.retrying import Retrying
from hob.providers.settings import (
    ModelSettings,
    PriceSetting,
    SettingsPrices,
    is_connected,
    model_name,
    settings_from_environ,
)

__all__ = [
    "ModelSettings",
    "NotConnected",
    "PriceSetting",
    "Retrying",
    "SettingsPrices",
    "is_connected",
    "model_name",
    "open_model",
    "settings_from_environ",
]
