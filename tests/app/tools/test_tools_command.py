"""`hob tools` over a home without a daemon."""

import json
from pathlib import Path

import pytest

from hob.app.subsystems import TOOL_GROUPS
from hob.cli.setup.tool_words import TOOL_WORDS
from hob.cli.setup.tools import explain, list_, try_
from hob.core.errors import HobError


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOB_HOME", str(tmp_path / "home"))
    (tmp_path / "hob" / "work").mkdir(parents=True)
    return tmp_path


def test_tools_are_listed_by_group_with_always_shown_ones_first(capsys: pytest.CaptureFixture[str]) -> None:
    list_()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "always shown"
    assert lines.index("web") > lines.index(next(each for each in lines if each.startswith("  load_tools ")))
    assert any(each.startswith("  web_fetch ") for each in lines[lines.index("web") :])


def test_tools_are_listed_in_words_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    list_()
    told = capsys.readouterr().out
    assert "Groups:" not in told
    assert "Tell the user" not in told
    assert "…" not in told
    assert {spec.name for group in TOOL_GROUPS for spec in group.tools} <= set(TOOL_WORDS)


def test_explanation_shows_arguments_roles_and_effects(capsys: pytest.CaptureFixture[str]) -> None:
    explain("web_fetch")
    said = capsys.readouterr().out
    assert "url [an address to fetch]" in said
    assert "reach other computers or people; read what others wrote" in said
    explain("web_fetch", json=True)
    assert json.loads(capsys.readouterr().out)["roles"]["urls"] == ["url"]


def test_unknown_tool_gets_suggestions() -> None:
    with pytest.raises(HobError, match="did you mean web_fetch"):
        explain("web_fetc")


def test_trial_makes_one_call_and_shows_its_result(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "hob" / "work" / "notes.md").write_text("buy milk\n")
    assert try_("grep", "milk") == 0
    assert "buy milk" in capsys.readouterr().out
    assert try_("grep", "pattern=milk") == 0
    assert "buy milk" in capsys.readouterr().out
    assert try_("grep", '{"pattern": 1}') == 1
    assert "pattern" in capsys.readouterr().out


@pytest.mark.bubblewrap
def test_trial_does_not_do_what_the_policy_refuses_or_asks_about(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert try_("read", str(home / "home" / "config.toml"), json=True) == 1
    refused = json.loads(capsys.readouterr().out)
    assert (refused["verdict"], refused["done"]) == ("deny", False)
    with pytest.raises(HobError, match="--yes"):
        try_("exec", "git reset --hard")
    assert "needs your approval: " in capsys.readouterr().out


def test_tool_that_waits_for_a_person_cannot_be_tried() -> None:
    with pytest.raises(HobError, match="in a conversation"):
        try_("ask_user", "why?")
