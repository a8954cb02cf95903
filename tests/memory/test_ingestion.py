"""What enters memory: what was said, found and written, without greetings, noise and what is private."""

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.content.files import BootstrapFile
from hob.core.ids import CallId, SessionKey, TurnId, digest, new_span_id, new_trace_id
from hob.core.memory import Layer, Scope, is_private
from hob.core.messages import Address, Inbound, Sender
from hob.core.models import TranscriptEntry
from hob.core.tools import ToolCall
from hob.core.trust.labels import HOB_LABEL, OWNER_LABEL, Label, Origin, SenderClass, Trust
from hob.core.turns import Turn
from hob.memory.ingestion import files
from hob.memory.ingestion.documents import split_sections
from hob.memory.ingestion.files import FileIndexer
from hob.memory.ingestion.turns import items_of_import, items_of_turn
from hob.memory.settings import MemorySettings
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.memory_store import memory_store

WEB = Label(Origin.WEB, Trust.UNTRUSTED)
FOUND = (
    "The library in the old town is open from nine to five, but for Wednesdays, when it stays open until eight. " * 3
)


def turn_of(session: str = "telegram:1", cls: SenderClass = SenderClass.OWNER, *, group: bool = False) -> Turn:
    inbound = message("hi")
    sender = Sender("1", "Ada", cls)
    inbound = Inbound(
        inbound.id, inbound.key, Address("telegram", "1"), sender, "hi", OWNER_LABEL, inbound.trace, group=group
    )
    return Turn(TurnId("t_1"), SessionKey(session), new_trace_id(), new_span_id(), (inbound,))


def said(text: str, role: str = "user", label: Label = OWNER_LABEL) -> TranscriptEntry:
    return TranscriptEntry(1, role, text, label, "t_1", 100.0)  # type: ignore[arg-type]


def kept(*entries: TranscriptEntry, turn: Turn | None = None) -> list[str]:
    return [item.text for item in items_of_turn(turn or turn_of(), entries, MemorySettings())]


@pytest.mark.parametrize(
    "text",
    ["Hallo!", "thank you!!", "Good morning, Hob", "ok", "/status now please", '{"tool_call": {"name": "x"}}',
     '[{"id": 1, "name": "x"}]', "I see.", "Where does my sister live?"],
)  # fmt: skip
def test_greetings_commands_and_raw_json_are_not_stored(text: str) -> None:
    assert kept(said(text)) == []


def test_item_records_speaker_source_and_expiry() -> None:
    (item,) = items_of_turn(turn_of(), [said("I live in Paris.")], MemorySettings())
    assert (item.source, item.speaker, item.role, item.session) == (
        "conversation:telegram",
        "Ada",
        "user",
        "telegram:1",
    )
    assert (item.scope, item.label, item.expires_at) == (Scope("owner"), OWNER_LABEL, 100.0 + 30 * 86_400)


def test_no_one_is_named_as_speaker_of_what_several_people_wrote() -> None:
    turn = turn_of(group=True)
    eve = replace(turn.inbounds[0], sender=Sender("9", "Eve", SenderClass.STRANGER))
    (item,) = items_of_turn(replace(turn, inbounds=(*turn.inbounds, eve)), [said("I live in Paris.")], MemorySettings())
    assert item.speaker == ""


def test_tool_result_is_stored_as_its_tools_claim_unless_it_is_trivial() -> None:
    calls = tuple(ToolCall(CallId(name), name, "{}") for name in ("web_fetch", "recall", "exec", "read"))
    asked = TranscriptEntry(1, "assistant", "", OWNER_LABEL, "t_1", 100.0, calls=calls)
    results = [
        TranscriptEntry(n, "tool", text, WEB, "t_1", 100.0, call=CallId(name), is_error=name == "exec")
        for n, (name, text) in enumerate(
            [("web_fetch", FOUND), ("recall", FOUND), ("exec", FOUND), ("read", "error: no such file")], 2
        )
    ]
    (item,) = items_of_turn(turn_of(), [asked, *results], MemorySettings())
    assert (item.layer, item.source, item.label, item.kind) == (Layer.TOOL, "tool:web_fetch", WEB, "result")


def test_long_message_is_split_and_a_long_tool_result_is_cut() -> None:
    text = "".join(f"Line {n} of what I paste here.\n" for n in range(400)) + "The code is XYLOPHONE."
    pieces = kept(said(text))
    assert "".join(pieces) == text
    assert len(pieces) > 1
    call = TranscriptEntry(
        1, "assistant", "", HOB_LABEL, "t_1", 100.0, calls=(ToolCall(CallId("c"), "web_fetch", "{}"),)
    )
    (result,) = kept(call, TranscriptEntry(2, "tool", text, WEB, "t_1", 100.0, call=CallId("c")))
    assert text.startswith(result)


def test_statement_in_a_shared_conversation_stays_in_it() -> None:
    for turn in (turn_of(group=True), turn_of(cls=SenderClass.MEMBER)):
        (item,) = items_of_turn(turn, [said("The club meets on Friday.")], MemorySettings())
        assert item.scope == Scope("telegram:1")


@pytest.mark.parametrize("session", ["local:private-1a", "telegram:1/private-1a", "once:x"])
def test_nothing_of_a_private_conversation_is_kept(session: str) -> None:
    assert kept(said("The number of my safe is 4711."), turn=turn_of(session)) == []
    assert is_private(SessionKey("telegram:private:1")) is False


def test_hobs_own_messages_are_not_stored() -> None:
    assert kept(said("[No answer was given to this: it failed.]", label=HOB_LABEL)) == []


@given(st.text(alphabet="# \nab`~", max_size=400))
def test_sections_hold_every_word_of_the_document(text: str) -> None:
    sections = list(split_sections(text, "title"))
    for section in sections:
        assert 1 <= section.first <= section.last <= text.count("\n") + 1
    headings = {section.heading for section in sections}
    words = " ".join(section.text for section in sections)
    for word in text.replace("#", " ").replace("`", " ").replace("~", " ").split():
        assert (
            word in words or any(word in line for line in text.split("\n") if line.startswith("#")) or word in headings
        )


def test_long_section_is_cut_between_paragraphs_and_each_piece_names_its_heading() -> None:
    paragraphs = "\n\n".join(f"Paragraph {n}. " + "word " * 100 for n in range(10))
    sections = list(
        split_sections(f"<!-- for\nyou -->\nintro\n# Tea\n{paragraphs}\n```\n# no heading\n```\n# Empty\n", "notes.md")
    )
    assert (sections[0].heading, sections[0].text) == ("notes.md", "intro")
    tea = [section for section in sections if section.heading == "Tea"]
    assert len(tea) > 2
    assert len(tea) == len(sections) - 1
    assert all("Tea" in section.text.split("\n")[0] and len(section.text) < 2_000 for section in tea)


async def test_changed_section_replaces_the_old_one(tmp_path: Path) -> None:
    soul = tmp_path / "SOUL.md"
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/2026-01-02.md").write_text("# Tea\nAnna likes green tea.\n")
    label = [HOB_LABEL]

    def identity() -> list[BootstrapFile]:
        return [BootstrapFile("SOUL.md", soul.read_text(), digest(soul.read_text()), label[0])]

    async with memory_store(ManualClock()) as store:
        files = FileIndexer(store.items, tmp_path, identity)
        soul.write_text("I am Hob.\n## Tone\nCalm.\n## Humour\nDry.\n")
        assert await files.sync() == 4
        assert await files.sync() == 0
        soul.write_text("I am Hob.\n## Tone\nCheerful.\n## Humour\nDry.\n")
        (tmp_path / "memory/2026-01-02.md").unlink()
        assert await FileIndexer(store.items, tmp_path, identity).sync() == 1
        items = await store.items.of(Scope("owner")).select()
        assert {item.text for item in items} == {"I am Hob.", "## Tone\nCheerful.", "## Humour\nDry."}
        assert {item.source for item in items} == {"soul:SOUL.md"}
        label[0] = WEB
        await files.sync()
        assert {item.label for item in await store.items.of(Scope("owner")).select()} == {WEB}


async def test_truncated_note_is_reported_and_a_non_utf_8_note_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    notes = tmp_path / "memory"
    notes.mkdir()
    (notes / "2026-01-01.md").write_text("The oldest.\n")
    (notes / "2026-01-02.md").write_bytes("Grüße aus Köln.\n".encode("cp1252"))
    (notes / "2026-01-03.md").write_text("Höhe und Länge, " * 4)
    monkeypatch.setattr(files, "_MAX_FILES", 2)
    monkeypatch.setattr(files, "_MAX_BYTES", 36)
    async with memory_store(ManualClock()) as store:
        indexer = FileIndexer(store.items, tmp_path, list)
        for _ in range(2):
            await indexer.sync()
        texts = {item.text for item in await store.items.of(Scope("owner")).select()}
    assert texts == {"Grüße aus Köln.", "Höhe und Länge, Höhe und Länge,"}
    assert caplog.messages == [
        f"{notes}: 1 notes are not remembered, only the last 2",
        f"{notes}/2026-01-03.md: only its first 36 bytes are remembered",
    ]


def test_imported_conversation_keeps_both_sides_without_greetings_and_thanks() -> None:
    said_there = [
        said("What is the standover height?"),
        said("About 75.9 cm from the bottom bracket.", "assistant"),
        said("And the color?"),
        said("Red.", "assistant"),
        said("Great, thanks a lot!"),
        said("You're welcome!", "assistant"),
    ]
    told = [item.text for item in items_of_import(SessionKey("claude:1"), said_there)]
    assert told == [entry.text for entry in said_there[:4]]


async def test_daily_note_is_dated_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    for name in ("2026-10-01.md", "2026-10-02-1530-plan.md", "ideas.md"):
        (tmp_path / "memory" / name).write_text(f"What is in {name}.")
        os.utime(tmp_path / "memory" / name, (5.0, 5.0))
    async with memory_store(ManualClock()) as store:
        await FileIndexer(store.items, tmp_path, list, ZoneInfo("Pacific/Auckland")).sync()
        items = await store.items.of(Scope("owner")).select()
    days = {item.session: datetime.fromtimestamp(item.at, ZoneInfo("Pacific/Auckland")).date() for item in items}
    assert {name: str(day) for name, day in days.items()} == {
        "memory/2026-10-01.md": "2026-10-01",
        "memory/2026-10-02-1530-plan.md": "2026-10-02",
        "memory/ideas.md": "1970-01-01",
    }
