"""The tool `message` in the terminal's and the API's own conversations."""

import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from hob.cli.chat.plain import PlainRenderer
from hob.cli.daemon_requests import EventPrinter
from hob.core.models import ModelReply
from hob.gateway.chat.inbound import ClientEvent
from hob.testing.model import Line, calls
from tests.gateway.conftest import Machine, machine
from tests.gateway.dashboard.test_dashboard import signed_in

OPEN = calls(("load_tools", '{"names": ["messages"]}'))


def message(**arguments: Any) -> ModelReply:
    return calls(("message", json.dumps(arguments)))


def serving(top: Path, *script: Line) -> AbstractAsyncContextManager[Machine]:
    """A Hob whose workspace is beside its home."""
    return machine(top / "home", *script, HOB_WORKSPACE_PATH=str(top / "workspace"))


async def ask(hob: Machine, text: str, channel: str = "api") -> dict[str, Any]:
    told = {"message": text, "channel": channel, "wait": 20}
    answer: dict[str, Any] = (await hob.unix.post("/chat", json=told)).json()
    return answer


def follow(lines: list[str]) -> list[ClientEvent]:
    """Return the events of a stream of `POST /chat`."""
    events = "\n".join(lines).strip().split("\n\n")
    parted = [each.split("\n", 1) for each in events]
    return [ClientEvent(head.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for head, data in parted]


async def test_program_gets_buttons_and_a_poll_as_fields(tmp_path: Path) -> None:
    buttons = message(action="reply", text="Which tea?", options=["Green", "Black"])
    poll = message(action="poll", text="When?", options=["Today", "Tomorrow"])
    async with serving(tmp_path, OPEN, buttons, poll, "Two questions for you.") as hob:
        answer = await ask(hob, "Ask me about the tea.")
        assert answer["reply"] == "Two questions for you."
        first, second = answer["messages"]
        assert (first["text"], first["buttons"], first["poll"]) == ("Which tea?", ["Green", "Black"], [])
        assert first["reply_to"] == {"id": answer["id"], "text": "Ask me about the tea."}
        assert (second["text"], second["buttons"], second["poll"]) == ("When?", [], ["Today", "Tomorrow"])
        assert second["reply_to"] is None
        again = (await hob.tcp.get(f"/chat/{answer['id']}")).json()
        assert again["messages"] == answer["messages"]


async def test_program_fetches_an_attached_file_by_its_url(tmp_path: Path) -> None:
    script = (OPEN, message(action="send", file="menu.txt", text="The menu."), "Sent.")
    async with serving(tmp_path, *script) as hob:
        work = tmp_path / "workspace" / "work"
        work.mkdir(parents=True, exist_ok=True)
        (work / "menu.txt").write_text("soup")
        (sent,) = (await ask(hob, "Send me the menu."))["messages"]
        (file,) = sent["attachments"]
        assert (file["name"], file["media_type"], file["size"]) == ("menu.txt", "text/plain", 4)
        assert "path" not in file
        assert (await hob.tcp.get(file["url"])).text == "soup"


async def test_terminal_gets_choices_as_numbered_lines_and_files_with_their_paths(tmp_path: Path) -> None:
    poll = message(action="poll", text="Which tea?", options=["Green", "Black"])
    script = (OPEN, message(action="reply", file="menu.txt", text="The menu."), poll, "Your choice?", "Black it is.")
    async with serving(tmp_path, *script) as hob:
        work = tmp_path / "workspace" / "work"
        work.mkdir(parents=True, exist_ok=True)
        (work / "menu.txt").write_text("soup")
        answer = await ask(hob, "Ask me.", "local")
        menu, tea = answer["messages"]
        assert menu["attachments"][0]["path"] == str(work / "menu.txt")
        assert (tea["text"], tea["poll"]) == ("Which tea?\n1. Green\n2. Black", [])
        assert (await ask(hob, "2", "local"))["reply"] == "Black it is."


@pytest.mark.parametrize("action", ["edit", "delete"])
async def test_impossible_action_is_refused_with_a_way_out(tmp_path: Path, action: str) -> None:
    script = (OPEN, message(action=action, message="m_1", text="No."), "It cannot be done.")
    async with serving(tmp_path, *script) as hob:
        assert "messages" not in await ask(hob, "Change it.", "local")
        assert f"local cannot {action} messages; send another one" in hob.model.requests[-1].messages[-1].text


async def test_reaction_becomes_a_message_that_answers(tmp_path: Path) -> None:
    async with serving(tmp_path, OPEN, message(action="react", text="👍"), "Done.") as hob:
        answer = await ask(hob, "Thank you!")
        (sent,) = answer["messages"]
        assert (sent["text"], sent["reply_to"]["id"]) == ("👍", answer["id"])


async def test_message_is_streamed_before_the_answer_and_kept_in_the_history(tmp_path: Path) -> None:
    async with serving(tmp_path, OPEN, message(action="send", text="Half done."), "Done.") as hob:
        told = {"message": "Work."}
        answer = await hob.tcp.post("/chat", json=told, headers={"accept": "text/event-stream"})
        events = follow(answer.text.split("\n"))
        names = [each.name for each in events]
        (live,) = [each.data["message"] for each in events if each.name == "message"]
        assert names.index("message") < names.index("result")
        assert live == events[-1].data["messages"][0]
        session = events[0].data["session"]
        async with signed_in(hob) as page:
            history = (await page.get("/api/v1/sessions/history", params={"session": session})).json()
        assert [each["text"] for each in history["messages"]] == ["Half done."]
        assert history["messages"][0]["turn"] == history["entries"][-1]["turn"]


SENT = {
    "id": "t_1.aa.0",
    "text": "Which?",
    "reply_to": {"id": "m_1", "text": "Ask me."},
    "attachments": [{"id": "ab", "name": "menu.txt", "media_type": "text/plain", "url": "/x", "path": "/w/menu.txt"}],
    "buttons": ["Green", "Black"],
    "poll": [],
}
SHOWN = "> Ask me.\nWhich?\n1. Green\n2. Black\n[menu.txt] /w/menu.txt\n"
RESULT = {"id": "m_1", "state": "done", "reply": "Your choice?", "notes": [], "messages": [SENT]}


@pytest.mark.parametrize("live", [True, False], ids=["live", "only at the end"])
def test_terminal_shows_a_message_once(capsys: pytest.CaptureFixture[str], live: bool) -> None:
    events = [ClientEvent("message", {"message": SENT})] if live else []
    for shown in (PlainRenderer("en"), EventPrinter(json=False)):
        for event in (*events, ClientEvent("result", RESULT)):
            shown.show(event)
        assert capsys.readouterr().out == f"{SHOWN}Your choice?\n"
