"""Completion at the prompt of the chat."""

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from hob.app.subsystems import SLASH_COMMANDS
from hob.cli.chat.input.completion import Completions, Names


def completed(text: str, **known: list[str]) -> list[str]:
    names = Names(**known)  # type: ignore[arg-type]
    return [found.text for found in Completions(names).get_completions(Document(text), CompleteEvent())]


def test_every_command_is_completed() -> None:
    assert set(completed("/")) == {f"/{command.name}" for command in SLASH_COMMANDS} | {"/attach", "/exit"}
    assert completed("/PER") == ["/permission"]


@pytest.mark.parametrize("text", ["", "hello /", "/etc/ho", "/help\n/"])
def test_other_texts_are_not_completed(text: str) -> None:
    assert completed(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/permission r", ["read-only", "guarded", "workspace"]),
        ("/autonomy sup", ["supervised"]),
        ("/queue st", ["steer"]),
        ("/think x", ["xhigh"]),
        ("/undo ", ["files"]),
        ("/undo files ", ["preview"]),
        ("/help ", []),
    ],
)
def test_arguments_are_completed(text: str, found: list[str]) -> None:
    assert completed(text)[: len(found) or None] == found


def test_known_models_sessions_and_tasks_are_completed() -> None:
    assert completed("/model clev", models=["openai/clever", "clever"]) == ["clever", "openai/clever"]
    assert completed("/session switch w", sessions=["work", "main"]) == ["work"]
    assert completed("/cancel m", tasks=["m_1"]) == ["m_1"]


def test_path_of_a_file_to_attach_is_completed(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    assert completed(f"/attach {tmp_path}/no") == ["tes.txt"]


def test_command_descriptions_are_in_the_owners_language() -> None:
    told = dict(Names(language="de").commands())
    assert told["stop"] == "anhalten, was diese Unterhaltung tut, oder alles"
    assert told["exit"] == "den Chat beenden"
