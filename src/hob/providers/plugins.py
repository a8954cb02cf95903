"""Third-party providers, found by the entry point group `hob.providers`.

The name of the entry point is the provider id, its object a callable `open_model(settings: ProviderSettings, clock:
Clock, blobs: Blobs | None) -> Model`. A plug-in is imported on first use of its model, and searched for only if Hob
does not know the name.
"""

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, cast

from hob.core.clock import Clock
from hob.core.errors import ModelError, ModelFault
from hob.core.ports.model import Model
from hob.core.ports.tools import Blobs
from hob.core.translation.language import translatable
from hob.providers.settings import ProviderSettings

GROUP = "hob.providers"
_MAX_SAID = 200
log = logging.getLogger(__name__)
Open = Callable[[ProviderSettings, Clock, Blobs | None], Model]


@cache
def _entry_points() -> dict[str, Any]:
    from importlib.metadata import entry_points  # costs 15 ms, needed only for unknown names

    return {entry.name: entry for entry in entry_points(group=GROUP)}


def is_plugin(name: str) -> bool:
    """Whether an installed package provides this provider."""
    return bool(name) and name in _entry_points()


def find_plugin_names() -> tuple[str, ...]:
    """Return the providers of installed packages."""
    return tuple(sorted(_entry_points()))


def open_plugin(name: str, settings: ProviderSettings, clock: Clock, blobs: Blobs | None) -> Model:
    """Return the plug-in's model. Raises ModelError if it cannot be loaded or opened."""
    try:
        return cast(Open, _entry_points()[name].load())(settings, clock, blobs)
    except ModelError:
        raise
    except Exception as error:  # the plug-in's own
        log.exception("the provider %s cannot be opened", name)
        said = f"{type(error).__name__}: {error}"[:_MAX_SAID]
        raise ModelError(
            ModelFault.SETTINGS, translatable("the provider {name} cannot be loaded ({error})", name=name, error=said)
        ) from error
