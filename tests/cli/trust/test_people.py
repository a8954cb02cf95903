"""`hob people` and `hob pairing` without a daemon."""

import asyncio
import json
from pathlib import Path

import pytest

from hob.cli.table import run
from hob.core.clock import SystemClock
from hob.core.trust.people import PairingRequest, SenderAddress
from hob.store.settings import StoreSettings
from hob.store.store import open_store


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    monkeypatch.setenv("HOB_WORKSPACE_SEED", "false")
    return tmp_path


def ask(home: Path, code: str) -> None:
    """Let a person whose name contains control characters ask for this code."""

    async def put() -> None:
        async with open_store(home, StoreSettings(), SystemClock()) as store:
            at = SystemClock().now().timestamp()
            await store.people.ask(
                PairingRequest(code, SenderAddress("telegram", f"7\x1b[2J{code}"), "E\x1b[31mve", at, at + 60)
            )

    asyncio.run(put())


@pytest.mark.usefixtures("home")
def test_address_is_linked_shown_and_unlinked(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["people", "link", "Telegram: 12345 ", "anna", "--name", "Anna"]) == 0
    assert run(["people", "--json"]) == 0
    said = capsys.readouterr().out
    people = json.loads(said[said.index("{") :])["people"]
    assert people[1] == {"id": "anna", "name": "Anna", "class": "member", "addresses": ["telegram:12345"]}
    assert run(["people", "unlink", "telegram:12345"]) == 0
    assert run(["people", "forget", "anna"]) == 0
    assert run(["people", "list"]) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[-3].split()[:2] == ["person", "class"]
    assert "No address is linked" in told


@pytest.mark.usefixtures("home")
def test_token_holders_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for made in (["bert", "--class", "member"], ["phone"], ["gone", "--class", "stranger"]):
        assert run(["token", "new", *made]) == 0
    assert run(["token", "revoke", "gone"]) == 0
    capsys.readouterr()
    assert run(["people", "--json"]) == 0
    people = json.loads(capsys.readouterr().out)["people"]
    assert people[1:] == [{"id": "token:bert", "name": "bert", "class": "member", "addresses": ["api:token:bert"]}]


@pytest.mark.usefixtures("home")
def test_invalid_change_of_people_is_refused_with_a_next_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["people", "link", "12345", "anna"]) == 2
    assert "telegram:12345" in capsys.readouterr().err
    assert run(["pairing", "approve", "ABCDEFGH"]) == 1
    assert "hob pairing list" in capsys.readouterr().err


def test_waiting_person_is_shown_safely_and_can_be_let_in(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for code in ("ABCDEFGH", "HGFEDCBA"):
        ask(home, code)
    assert run(["pairing"]) == 0
    assert run(["pairing", "approve", "abcdefgh", "--person", "eve"]) == 0
    assert run(["pairing", "deny", "HGFEDCBA"]) == 0
    said = capsys.readouterr().out
    assert "ABCDEFGH" in said
    assert "\x1b" not in said
    assert run(["pairing"]) == 0
    assert "No one is waiting." in capsys.readouterr().out
    assert run(["people"]) == 0
    said = capsys.readouterr().out
    assert "eve     member" in said
    assert "\x1b" not in said
