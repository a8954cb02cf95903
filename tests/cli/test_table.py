"""The table of commands and how a command is found."""

import inspect

import pytest

from hob import __version__
from hob.cli.table import COMMANDS, HEADINGS, PLAIN, load_command, overview, run


def test_overview_names_every_command() -> None:
    assert [name for name, _ in COMMANDS if f"  {name} " not in overview()] == []


@pytest.mark.parametrize("name", sorted(PLAIN))
def test_plain_commands_have_no_parameters(name: str) -> None:
    parameters = inspect.signature(load_command(name)).parameters
    assert [key for key, value in parameters.items() if value.default is value.empty] == []


@pytest.mark.parametrize("arguments", [["ask", ""], ["ask", "--session", "x"], ["export"]])
def test_wrong_use_has_status_2_with_and_without_parsing(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    assert capsys.readouterr().out == ""


def test_every_command_is_listed_under_a_heading() -> None:
    assert next(iter(HEADINGS)) == COMMANDS[0][0]
    assert set(HEADINGS) <= {name for name, _ in COMMANDS}
    assert [line for line in overview().splitlines() if len(line) > 80] == []


def test_help_and_version_work_as_commands_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help"]) == 0
    assert capsys.readouterr().out == f"{overview()}\n"
    assert run(["help", "ask"]) == 0
    assert capsys.readouterr().out.startswith("Usage: hob ask")
    assert run(["version"]) == 0
    assert capsys.readouterr().out == f"{__version__}\n"


def test_text_that_looks_like_an_option_is_parsed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ask", "--help"]) == 0
    assert "--session" in capsys.readouterr().out
