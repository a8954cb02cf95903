"""Help pages and messages about wrong use."""

import pytest
from cyclopts import App

from hob.cli.table import COMMANDS, load_command, run

GROUPS = [name for name, _ in COMMANDS if isinstance(load_command(name), App)]
SUBCOMMANDS = [("config", "show"), ("token", "new"), ("models", "test"), ("secrets", "set"), ("service", "install")]


@pytest.mark.parametrize("words", [*((name,) for name, _ in COMMANDS), *SUBCOMMANDS], ids=lambda words: "-".join(words))
def test_every_page_fits_80_columns_and_shows_no_empty_choice(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*words, "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"Usage: hob {' '.join(words)}")
    assert [line for line in page.splitlines() if len(line) > 80] == []
    assert [line for line in page.splitlines() if line != line.rstrip()] == []
    for ugly in ("[ARGS", "[NAME...]", "object at", '[default: ""]', "[default: False]", ", ]", "--no-json"):
        assert ugly not in page


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (("retry",), "hob retry [ID]"),
        (("import",), "hob import [OPTIONS] [ASSISTANT] [PATH]"),
        (("mcp", "add"), "hob mcp add [OPTIONS] NAME [COMMAND...]"),
    ],
)
def test_usage_and_argument_list_use_the_same_names(
    words: tuple[str, ...], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*words, "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"Usage: {usage}\n")
    assert page.count(usage.rpartition("[")[2].rstrip(".]")) > 1


@pytest.mark.parametrize("name", GROUPS)
def test_group_lists_its_commands_with_what_they_do(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    _, _, listed = capsys.readouterr().out.partition("Commands:\n")
    commands = [line.split(None, 1) for line in listed.partition("\n\n")[0].splitlines() if line[2:3].strip()]
    assert commands
    assert all(len(command) == 2 for command in commands)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("onbord", "hob: unknown command onbord; did you mean onboard? see `hob --help`"),
        ("usage --dys 3", "hob: unknown option --dys; did you mean --days? see `hob usage --help`"),
        ("erase", "hob: PERSON is missing; see `hob erase --help`"),
        ("usage --days", "hob: --days needs a value; see `hob usage --help`"),
        ("config path now", "hob: unexpected argument 'now'; see `hob config path --help`"),
        ("logs --since 99x", "hob: --since '99x' is not a time; write 30min, 2h, 3d or 2026-05-01T08:30"),
        ("config show nothing", "hob: nothing: no setting begins like this; `hob config show` prints them all"),
    ],
)
def test_wrong_use_is_reported_in_one_line_with_the_next_step(
    words: str, told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert run(words.split()) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.splitlines()) == ("", [told])
