"""The settings of the product itself."""

from pathlib import Path

import pytest

from hob.app.settings.sections import SECTIONS
from hob.config.loading import load_config
from hob.config.problems import ConfigInvalid


def test_invalid_table_entry_is_refused_before_the_start(tmp_path: Path) -> None:
    environ = {"HOB_BUS_QUEUE_MODE_BY_CHANNEL": '{ local = "stear" }'}
    with pytest.raises(ConfigInvalid, match="steer"):
        load_config(SECTIONS, home=tmp_path, environ=environ)


def test_defaults_are_valid(tmp_path: Path) -> None:
    config = load_config(SECTIONS, home=tmp_path, environ={})
    assert config.warnings == ()
