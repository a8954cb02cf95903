"""Providers of other people's packages: what they do wrong is told, and no worse comes of it."""

from collections.abc import Callable
from typing import Any

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.providers import plugins
from hob.providers.settings import ProviderSettings
from hob.testing.clock import ManualClock


class Entry:
    """An entry point as an installed package has it."""

    def __init__(self, load: Callable[[], Any]) -> None:
        self.load = load


def _missing() -> Any:
    raise ImportError("no module named acme")


def _broken() -> Any:
    raise SyntaxError("in the middle of the package")


def _refusing(*_: object) -> Any:
    raise KeyError("region")


@pytest.mark.parametrize("load", [_missing, _broken, lambda: _refusing])
def test_broken_plug_in_is_reported_as_a_wrong_setting(
    load: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugins, "_entry_points", lambda: {"acme": Entry(load)})
    with pytest.raises(ModelError, match="acme cannot be loaded") as caught:
        plugins.open_plugin("acme", ProviderSettings(), ManualClock(), None)
    assert caught.value.fault is ModelFault.SETTINGS
