"""The tool `message`, and buttons of questions, in a complete Hob."""

import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

from hob.core.content.capabilities import Capabilities
from hob.core.messages import OutboundAction, OutboundKind
from hob.core.models import ModelReply
from hob.testing.model import Line, calls
from tests.app.visiting import ANNA, EVE, ME, Visited, until, visited

EVERYTHING = Capabilities(replies=True, edits=True, deletes=True, reactions=True, polls=True, buttons=8, files=4)
OPEN = calls(("load_tools", '{"names": ["messages"]}'))


def trusting(home: Path, *script: Line) -> AbstractAsyncContextManager[Visited]:
    """A Hob that needs no approval for what its owner wrote."""
    return visited(home, *script, HOB_POLICY_MODE="full", HOB_POLICY_AUTONOMY="autonomous")


def message(**arguments: Any) -> ModelReply:
    return calls(("message", json.dumps(arguments)))


async def ask(hob: Visited, text: str) -> str:
    """Return the reply to the owner, who writes on Telegram."""
    await hob.comes(text, ME)

    def replies() -> list[str]:
        sent = [each for each in hob.channels["telegram"].sent if each.to.chat == ME]
        return [each.text for each in sent if each.action is OutboundAction.SEND and each.kind is OutboundKind.REPLY]

    await until(lambda: bool(replies()))
    return replies()[-1]


async def test_message_is_sent_by_name_in_the_form_the_channel_supports(tmp_path: Path) -> None:
    send = message(action="send", to="Anna", text="Tea or coffee?", options=["Tea", "Coffee"])
    async with trusting(tmp_path, OPEN, send, "Asked her.") as hob:
        await hob.knows()
        assert await ask(hob, "ask anna what she drinks") == "Asked her."
        await until(lambda: bool(hob.sent(ANNA)))
        assert hob.sent(ANNA) == ["Tea or coffee?\n1. Tea\n2. Coffee"]


async def test_name_in_the_owners_words_needs_no_approval_and_another_does(tmp_path: Path) -> None:
    send = message(action="send", to="Anna", text="I am late.")
    async with visited(tmp_path, OPEN, send, "Told her.", send, "Told her again.") as hob:
        await hob.knows()
        assert await ask(hob, "Please tell Anna I am late.") == "Told her."
        await until(lambda: hob.sent(ANNA) == ["I am late."])
        await hob.comes("Please tell my sister I am late.", ME)
        await until(lambda: any("Anna" in each for each in hob.sent(ME)[1:]))
        assert hob.sent(ANNA) == ["I am late."]


async def test_ambiguous_name_is_refused(tmp_path: Path) -> None:
    send = message(action="send", to="Anna", channel="telegram", text="I am late.")
    for making in (visited, trusting):  # in both modes: approval cannot deliver the message either
        async with making(tmp_path / making.__name__, OPEN, send, "Which one?") as hob:
            await hob.knows()
            await hob.app.api.people.link(f"telegram:{EVE}", "other", "anna")
            assert await ask(hob, "Please tell Anna I am late.") == "Which one?"
            assert "several are called Anna; give an address instead: telegram:" in hob.seen
            assert hob.sent(ANNA) == hob.sent(EVE) == []


async def test_message_to_an_unknown_person_is_refused(tmp_path: Path) -> None:
    for making in (visited, trusting):
        send = message(action="send", to="999", text="hi")
        async with making(tmp_path / making.__name__, OPEN, send, "No.") as hob:
            await hob.knows()
            assert await ask(hob, "let them know") == "No."
            assert "nobody whom the owner has let in" in hob.seen
            assert "Anna (telegram:2)" in hob.seen
            assert hob.sent("999") == []


async def test_sent_messages_are_edited_and_user_messages_reacted_to(tmp_path: Path) -> None:
    sent: list[str] = []

    def edit(request: Any) -> ModelReply:
        sent.append(request.messages[-1].text.rpartition(" ")[2])
        return message(action="edit", to="Anna", message=sent[0], text="At 9.")

    send = message(action="send", to="Anna", text="At 8.", file="menu.txt")
    react = message(action="react", text="👍")
    script = (OPEN, send, edit, react, message(action="read", to="Anna"), "Done.")
    async with trusting(tmp_path, *script) as hob:
        (tmp_path / "workspace" / "work").mkdir(parents=True, exist_ok=True)
        (tmp_path / "workspace" / "work" / "menu.txt").write_text("soup")
        for channel in hob.channels.values():
            channel.capabilities = EVERYTHING
        await hob.knows()
        assert await ask(hob, "tell anna at 8, no, at 9") == "Done."
        await until(lambda: len(hob.channels["telegram"].sent) == 4)
        first, change, reaction, _ = hob.channels["telegram"].sent
        assert [each.name for each in first.attachments] == ["menu.txt"]
        assert (change.action, change.about, change.text) == (OutboundAction.EDIT, first.id, "At 9.")
        assert (reaction.action, reaction.to.chat, reaction.text) == (OutboundAction.REACT, ME, "👍")
        assert reaction.about
        assert f"[{first.id}] hob: At 8." in hob.seen


async def test_user_message_is_replied_to_and_a_sent_one_deleted(tmp_path: Path) -> None:
    sent: list[str] = []

    def delete(request: Any) -> ModelReply:
        sent.append(request.messages[-1].text.rpartition(" ")[2])
        return message(action="delete", to="Anna", message=sent[0])

    reply = message(action="reply", text="I will see to it.")
    async with trusting(tmp_path, OPEN, reply, message(action="send", to="Anna", text="At 8."), delete, "Ok.") as hob:
        hob.channels["telegram"].capabilities = EVERYTHING
        await hob.knows()
        await hob.comes("tell anna at 8; no, do not", ME, key="m7")
        await until(lambda: len(hob.channels["telegram"].sent) == 4)
        replied, first, deleted, _ = hob.channels["telegram"].sent
        assert (replied.to.chat, replied.about, replied.text) == (ME, "m7", "I will see to it.")
        assert (deleted.action, deleted.to.chat, deleted.about, deleted.text) == (
            OutboundAction.DELETE, ANNA, first.id, "",
        )  # fmt: skip


async def test_poll_is_sent_as_one_and_as_numbered_lines_where_there_are_none(tmp_path: Path) -> None:
    poll = message(action="poll", to="Anna", text="Lunch?", options=["Soup", "Salad"])
    for can, text, options in (
        (EVERYTHING, "Lunch?", ("Soup", "Salad")),
        (Capabilities(), "Lunch?\n1. Soup\n2. Salad", ()),
    ):
        async with trusting(tmp_path / str(can.polls), OPEN, poll, "Asked her.") as hob:
            hob.channels["telegram"].capabilities = can
            await hob.knows()
            assert await ask(hob, "ask anna what she eats") == "Asked her."
            (sent,) = [each for each in hob.channels["telegram"].sent if each.to.chat == ANNA]
            assert (sent.text, sent.poll, sent.buttons) == (text, options, ())


async def test_impossible_message_is_refused_before_its_approval(tmp_path: Path) -> None:
    impossible = {
        "takes no files": message(action="send", to="Anna", file="menu.txt", text="the menu"),
        "nobody wrote there in this turn": message(action="react", to="Anna", text="👍"),
        "cannot delete messages": message(action="delete", to="Anna", message="x"),
    }
    for n, (why, call) in enumerate(impossible.items()):
        async with visited(tmp_path / str(n), OPEN, call, "It cannot be done.") as hob:
            await hob.knows()
            assert await ask(hob, "write to my sister") == "It cannot be done."
            assert why in hob.seen
            assert hob.sent(ANNA) == []


async def test_stored_file_is_attached_and_a_missing_one_reported(tmp_path: Path) -> None:
    kept: list[str] = []
    script = (
        OPEN,
        lambda _: message(action="send", to="Anna", file=f"blob:{kept[0]}"),
        message(action="send", to="Anna", file="blob:none"),
        "Done.",
    )
    async with trusting(tmp_path, *script) as hob:
        hob.channels["telegram"].capabilities = EVERYTHING
        kept.append(await hob.app.store.blobs.put(b"OggS" + bytes(20), "audio/ogg"))
        await hob.knows()
        assert await ask(hob, "send anna the recording") == "Done."
        (sent,) = [each for each in hob.channels["telegram"].sent if each.to.chat == ANNA]
        assert [(each.media_type, each.blob) for each in sent.attachments] == [("audio/ogg", kept[0])]
        assert "none" in hob.model.requests[-1].messages[-1].text


async def test_question_has_buttons_if_supported_and_accepts_a_number(tmp_path: Path) -> None:
    question = calls(("ask_user", '{"question": "Which?", "options": ["Tea", "Coffee"]}'))
    async with trusting(tmp_path, question, "So be it.") as hob:
        hob.channels["telegram"].capabilities = EVERYTHING
        await hob.knows()
        await hob.comes("order", ME)
        await until(lambda: bool(hob.channels["telegram"].sent))
        (asked,) = hob.channels["telegram"].sent
        assert asked.text == "Which?\n1. Tea\n2. Coffee"
        assert [(each.label, each.answer) for each in asked.buttons] == [("Tea", "Tea"), ("Coffee", "Coffee")]
        assert await ask(hob, "2") == "So be it."
        assert hob.model.requests[-1].messages[-1].text.endswith("Coffee")
