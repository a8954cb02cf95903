"""A machine for each test."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from hob.testing.model_server import Fault, ModelServer, Reply
from tests.cli.setup.test_models import Served

from .playing import Machine


def answer(asked: Mapping[str, Any]) -> Reply:
    """`locked` refuses the key; `mute` calls no tool."""
    if asked.get("model") == "locked":
        return Reply(fault=Fault.UNAUTHORIZED)
    if '"name": "report"' not in json.dumps(asked.get("tools")) or asked.get("model") == "mute":
        return Reply("ready")
    return Reply(calls=(("report", '{"word": "ready"}'),))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with Served(answer, "small-1", "mute", "locked") as served:
        yield served


@pytest.fixture
def machine(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    with TemporaryDirectory(prefix="hob") as root:  # a Unix socket's path must be short
        machine = Machine(Path(root), server, monkeypatch)
        machine.begin()
        yield machine
