"""Past messages come in through the socket alone, and are history."""

from typing import Any

import pytest

from tests.gateway.conftest import Machine

SAID = {"key": "id:1", "role": "user", "text": "hello", "at": 1_760_000_000, "owner": True}
CALLED = {"key": "id:2", "role": "assistant", "at": 1_760_000_001, "calls": [{"id": "c", "name": "exec"}]}
ASKED = {"session": "other:one", "title": "A title", "messages": [SAID, CALLED]}


async def test_imported_messages_become_history_once(hob: Machine) -> None:
    preview = await hob.unix.post("/import", json={**ASKED, "preview": True})
    first, second = await hob.unix.post("/import", json=ASKED), await hob.unix.post("/import", json=ASKED)
    assert [each.json() for each in (preview, first, second)] == [
        {"new": 2, "there": 0}, {"new": 2, "there": 0}, {"new": 0, "there": 2},
    ]  # fmt: skip
    shown = (await hob.tcp.get("/sessions/show", params={"session": "other:one"})).json()
    assert (shown["title"], shown["entries"], shown["updated"]) == ("A title", 2, 1_760_000_001)
    assert hob.model.requests == []


async def test_token_without_the_scope_imports_no_history(hob: Machine) -> None:
    assert (await hob.tcp.post("/import", json=ASKED)).status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {"session": "x"},
        {"messages": [{**SAID, "role": "system"}]},
        {"messages": [{**SAID, "key": ""}]},
        {"messages": [{**SAID, "at": -1}]},
        {"messages": [{**SAID, "trust": "trusted"}]},
        {"messages": "all"},
    ],
    ids=str,
)
async def test_invalid_past_message_is_refused_with_its_path(hob: Machine, wrong: dict[str, Any]) -> None:
    answer = await hob.unix.post("/import", json={**ASKED, **wrong})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


async def test_import_into_an_own_session_is_refused(hob: Machine) -> None:
    said = (await hob.tcp.post("/chat", json={"message": "mine", "wait": 20})).json()
    answer = await hob.unix.post("/import", json={**ASKED, "session": said["session"]})
    assert answer.status_code == 400
    assert "of Hob's own" in answer.json()["error"]["message"]
