"""What is taken over from exports of ChatGPT and Claude."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hob.app.imports import chat_exports
from hob.core.trust.labels import Origin, Trust
from tests.app.imports import folders
from tests.app.imports.conftest import User, reasons


def node(id: str, parent: str | None, role: str, text: str, at: float = 1_700_000_000.0) -> dict[str, Any]:
    """A message of ChatGPT's tree."""
    message = {
        "id": f"m-{id}", "author": {"role": role}, "create_time": at, "metadata": {},
        "content": {"content_type": "text", "parts": [text]},
    }  # fmt: skip
    return {"id": id, "message": message, "parent": parent, "children": []}


def chatgpt(root: Path, *conversations: Mapping[str, Any], name: str = "conversations.json") -> Path:
    """An unpacked export."""
    folders.write(root / name, json.dumps(conversations))
    return root


TRIP: Mapping[str, Any] = {
    "title": "Trip to Porto",
    "create_time": 1_700_000_000.25,
    "conversation_id": "6561-aa",
    "current_node": "d",
    "mapping": {
        "root": {"id": "root", "message": None, "parent": None, "children": ["a"]},
        "a": node("a", "root", "user", "I am going to Porto in May with my sister Ines."),
        "b": node("b", "a", "assistant", "An answer that was thrown away."),
        "c": node("c", "a", "tool", "raw"),
        "d": node("d", "c", "assistant", "Porto is mild in May; take a jacket."),
    },
}
TALK: Mapping[str, Any] = {
    "uuid": "9f-1", "name": "Bread", "created_at": "2025-03-01T10:00:00.000000Z",
    "chat_messages": [
        {"uuid": "1", "sender": "human", "text": "My oven only reaches 220 degrees."},
        {"uuid": "2", "sender": "assistant", "text": "", "content": [{"type": "text", "text": "Bake it longer."}]},
        {"uuid": "3", "sender": "robot", "text": "beep"},
    ],
}  # fmt: skip


def test_only_the_shown_branch_of_a_chatgpt_conversation_is_imported(user: User) -> None:
    root = chatgpt(user.home / "export", TRIP)
    view = user.takes("chatgpt", str(root), "--mine")
    asked, told = user.history("chatgpt:6561-aa")
    assert (asked.text, told.text) == (
        "I am going to Porto in May with my sister Ines.",
        "Porto is mild in May; take a jacket.",
    )
    assert (asked.label.origin, asked.label.trust, asked.at) == (Origin.OWNER, Trust.UNTRUSTED, 1_700_000_000.0)
    assert view["items"][0]["passed"] == {"results of tools": 1}


def test_claude_messages_are_imported_with_their_times(user: User) -> None:
    root = user.home / "export"
    folders.write(root / "conversations.json", json.dumps([TALK]))
    folders.write(root / "users.json", "[]")
    view = user.takes("claude", str(root))
    asked, told = user.history("claude:9f-1")
    assert (asked.text, told.text) == ("My oven only reaches 220 degrees.", "Bake it longer.")
    assert asked.label.origin is Origin.FILE  # without --mine the export may be anybody's
    assert "users.json" in reasons(view, "not_taken")


def test_repeated_import_of_an_export_adds_only_new_messages(user: User) -> None:
    root = chatgpt(user.home / "export", TRIP)
    user.takes("chatgpt", str(root))
    longer = {**TRIP, "current_node": "e", "mapping": {**TRIP["mapping"], "e": node("e", "d", "user", "Thank you!")}}
    chatgpt(root, longer)
    assert user.takes("chatgpt", str(root))["messages"] == {"new": 1, "there": 2}


def test_export_in_several_files_is_imported_completely(user: User) -> None:
    root = user.home / "export"
    for n in range(3):
        chatgpt(root, {**TRIP, "conversation_id": f"c{n}"}, name=f"conversations-{n:03}.json")
    assert user.takes("chatgpt", str(root))["messages"] == {"new": 6, "there": 0}


@pytest.mark.parametrize("text", ["", "{}", "[", "[1, 2]", '[{"mapping": 3}]', "[" * 5_000, '[{"title": "\ud800"}]'])
def test_folder_that_is_no_export_is_refused_in_one_line(user: User, text: str) -> None:
    (user.home / "export").mkdir()
    (user.home / "export/conversations.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    status, _, told = user.hob("import", "claude", str(user.home / "export"))
    assert status != 0
    assert "not an export of Claude" in told
    assert "Traceback" not in told


def test_truncated_file_yields_the_conversations_before_the_cut(user: User) -> None:
    root = chatgpt(user.home / "export", TRIP, {**TRIP, "conversation_id": "later"})
    path = root / "conversations.json"
    path.write_bytes(path.read_bytes()[:-40])
    view = user.takes("chatgpt", str(root))
    assert view["messages"] == {"new": 2, "there": 0}
    assert "ends within a conversation" in reasons(view, "not_taken")


def test_bytes_that_are_no_text_lose_no_other_conversation(user: User) -> None:
    root = chatgpt(user.home / "export", TRIP, *({**TRIP, "conversation_id": f"later {n}"} for n in range(2)))
    path = root / "conversations.json"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"sister Ines", b"sister In\xe9s \xff\xfe", 1))
    assert user.takes("chatgpt", str(root))["messages"] == {"new": 6, "there": 0}
    assert user.history("chatgpt:6561-aa")[0].text.startswith("I am going to Porto in May with my sister In")


def test_cycle_of_parents_terminates(user: User) -> None:
    mapping = {"a": node("a", "b", "user", "One and one"), "b": node("b", "a", "assistant", "make two")}
    root = chatgpt(user.home / "export", {**TRIP, "current_node": "b", "mapping": mapping})
    assert user.takes("chatgpt", str(root))["messages"] == {"new": 2, "there": 0}


@given(
    st.lists(st.dictionaries(st.text(max_size=8), st.text(max_size=60) | st.integers(), max_size=4), max_size=8),
    st.sampled_from([None, 1, 2]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_elements_of_a_list_are_found_with_their_offsets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: Sequence[Mapping[str, Any]], indent: int | None
) -> None:
    path = tmp_path.resolve() / "conversations.json"
    data = json.dumps(values, ensure_ascii=False, indent=indent).encode("utf-8", "replace")
    path.write_bytes(data)
    monkeypatch.setattr(chat_exports, "_PIECE", 7)
    found = list(chat_exports._elements(path, path.parent))
    assert [json.loads(data[at : at + size]) for at, size, _ in found] == json.loads(data)
