"""A user's home with other assistants in it, and `hob import` in this process."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hob.cli.table import run
from hob.core.clock import SystemClock
from hob.core.ids import SessionKey
from hob.core.models import TranscriptEntry
from hob.store.settings import StoreSettings
from hob.store.store import open_store


class User:
    """Somebody at this machine."""

    def __init__(self, home: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self.state = home / ".hob"
        self.workspace = home / "hob"
        self._capsys = capsys

    def hob(self, *arguments: str) -> tuple[int, str, str]:
        """A command: its status, what it said, and what it complained of."""
        status = run(arguments)
        said = self._capsys.readouterr()
        return status, said.out, said.err

    def imports(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        """`hob import ... --json`."""
        found, out, err = self.hob("import", *arguments, "--json")
        assert found == status, err
        view: dict[str, Any] = json.loads(out)
        return view

    def takes(self, *arguments: str, status: int = 0) -> dict[str, Any]:
        """`hob import ... --yes --json`."""
        return self.imports(*arguments, "--yes", status=status)

    def history(self, session: str) -> Sequence[TranscriptEntry]:
        """What the store has of a session."""

        async def read() -> Sequence[TranscriptEntry]:
            async with open_store(self.state, StoreSettings(), SystemClock()) as store:
                return await store.transcript.history(SessionKey(session))

        return asyncio.run(read())


def statuses(view: Mapping[str, Any], kind: str) -> dict[str, str]:
    """How things of a kind stand, by where they go, or come from."""
    return {each["target"] or each["source"]: each["status"] for each in view["items"] if each["kind"] == kind}


def reasons(view: Mapping[str, Any], status: str) -> str:
    """Why things stand so, one a line."""
    return "\n".join(f"{e['source']} {e['target']}: {e['why']}" for e in view["items"] if e["status"] == status)


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> User:
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL")) or name.startswith("HOB_")]:
        monkeypatch.delenv(name)
    home = tmp_path.resolve() / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("HOB_HOME", str(home / ".hob"))
    return User(home, capsys)
