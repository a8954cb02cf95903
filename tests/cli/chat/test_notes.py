"""Notes about an answer: shown once, apart from the answer."""

from pathlib import Path
from typing import Any

import pytest

from hob.cli.chat.plain import PlainRenderer
from hob.cli.daemon_requests import EventPrinter
from hob.core.models import Remark
from hob.gateway.chat.inbound import ClientEvent
from tests.gateway.conftest import Machine, hob, machine

__all__ = ["hob"]

NOTE = "a/one is overloaded or broken right now, so b/two answers."
HEARD = ClientEvent("progress", {"what": "remark", "name": "", "text": NOTE})
STOOD_IN = Remark("stand_in_overload", (("model", "a/one"), ("other", "b/two")))


def result(**more: Any) -> ClientEvent:
    return ClientEvent("result", {"id": "m_1", "state": "done", "reply": "Hello.", "notes": [NOTE]} | more)


@pytest.mark.parametrize("live", [True, False], ids=["heard", "only at the end"])
def test_ask_prints_a_note_once_to_standard_error(capsys: pytest.CaptureFixture[str], live: bool) -> None:
    notifier = EventPrinter(json=False)
    for event in (HEARD, result()) if live else (result(),):
        notifier.show(event)
    shown = capsys.readouterr()
    assert (shown.out, shown.err, notifier.status) == ("Hello.\n", NOTE + "\n", 0)


def test_plain_chat_reports_calls_like_the_full_chat(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    shown = PlainRenderer("de")
    for what, text in (
        ("tool", '{"path": "a.md"}'),
        ("tool_done", "ok"),
        ("tool", "5"),
        ("tool_done", "bad_arguments"),
    ):
        shown.show(ClientEvent("progress", {"what": what, "name": "read", "text": text}))
    read, told = capsys.readouterr().err.splitlines()
    assert read == "✓ read: a.md"
    assert told == "✗ read  die Argumente des Modells passen nicht zum Werkzeug"


def test_json_result_of_ask_contains_the_notes(capsys: pytest.CaptureFixture[str]) -> None:
    EventPrinter(json=True).show(result())
    shown = capsys.readouterr()
    assert NOTE in shown.out
    assert shown.err == ""


@pytest.mark.parametrize("place", [0, 1, 2])
def test_chat_shows_a_note_once_whenever_it_arrives(capsys: pytest.CaptureFixture[str], place: int) -> None:
    events = [ClientEvent("delta", {"text": "Hel"}), ClientEvent("delta", {"text": "lo."}), result()]
    events.insert(place, HEARD)
    shown = PlainRenderer("en")
    for event in events:
        shown.show(event)
    told = capsys.readouterr()
    assert (told.out, told.err) == ("Hello.\n", NOTE + "\n")


def test_chat_announces_a_retry_only_with_its_first_words(capsys: pytest.CaptureFixture[str]) -> None:
    cut = [ClientEvent("delta", {"text": "Hel"}), ClientEvent("retracted", {})]
    for rest in ([ClientEvent("delta", {"text": "Hello."}), result(notes=[])], [result(notes=[])]):
        shown = PlainRenderer("en")
        for event in (*cut, *rest):
            shown.show(event)
        assert tuple(capsys.readouterr()) == ("Hel\nHello.\n", "again:\n")
    shown = PlainRenderer("en")
    for event in (*cut, ClientEvent("error", {"error": {"message": "It broke."}})):
        shown.show(event)
    assert tuple(capsys.readouterr()) == ("Hel\n", "It broke.\n")


async def test_api_returns_notes_beside_the_reply(hob: Machine) -> None:
    hob.model.remarks = (STOOD_IN,)
    sent = (await hob.tcp.post("/chat", json={"message": "hi"})).json()
    assert sent["notes"] == [NOTE]
    assert NOTE not in sent["reply"]
    assert (await hob.tcp.get(f"/chat/{sent['id']}")).json() == sent
    hob.model.remarks = ()
    assert (await hob.tcp.post("/chat", json={"message": "hi"})).json()["notes"] == []
    assert all(NOTE not in message.text for message in hob.model.requests[-1].messages)


async def test_follower_of_a_message_receives_its_notes_at_once(hob: Machine) -> None:
    hob.model.remarks = (STOOD_IN, STOOD_IN)
    stream = await hob.tcp.post("/chat", json={"message": "hi"}, headers={"accept": "text/event-stream"})
    assert stream.text.count('"what":"remark"') == 1
    assert stream.text.index('"what":"remark"') < stream.text.index("event: delta")


async def test_notes_are_in_the_owners_language(tmp_path: Path) -> None:
    async with machine(tmp_path, HOB_AGENT_LANGUAGE="de") as hob:
        hob.model.remarks = (STOOD_IN,)
        sent = (await hob.tcp.post("/chat", json={"message": "hi"})).json()
        assert sent["notes"] == ["a/one ist gerade überlastet oder gestört, darum antwortet b/two."]


async def test_erased_turn_leaves_no_note(hob: Machine) -> None:
    hob.model.remarks = (STOOD_IN,)
    sent = (await hob.tcp.post("/chat", json={"message": "hi"})).json()
    await hob.app.store.erasure.erase_trace(sent["trace_id"], "asked to")
    assert (await hob.tcp.get(f"/chat/{sent['id']}")).json()["notes"] == []
