"""The terminal's locale decides the language of output for people, not of output for programs."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from docs.catalog import load

from hob.app.settings.sections import sections_of
from hob.cli.table import run
from hob.config.fields import walk
from hob.config.positions import dotted
from hob.core.translation import language


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def german(home: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LC_ALL")
    monkeypatch.setenv("LANG", "de_DE.UTF-8")


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--help", "Ein persönlicher Assistent, der nichts verliert."),
        ("sessions --help", "Unterhaltungen auflisten"),
        ("usage --help", "[Vorgabe: 30]"),
        ("status", "nicht; `hob serve` startet es"),
        ("security audit", "kein Tages- oder Monatslimit"),
    ],
)
def test_output_is_german_in_a_german_terminal(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words.split()) == 0
    said = capsys.readouterr().out
    assert told in said
    assert "--help" not in words or max(map(len, said.splitlines())) <= 80


@pytest.mark.usefixtures("german")
def test_status_says_in_german_where_the_model_is_from(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_MODEL_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HOB_MODEL_NAME", "small")
    assert run(["status"]) == 0
    assert "small (aus deinen Einstellungen)" in capsys.readouterr().out


@pytest.mark.usefixtures("german")
def test_models_says_in_german_which_provider_is_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOB_MODEL_NAME", "nosuch/x")
    run(["models"])
    assert "keines (unbekannter Anbieter nosuch" in capsys.readouterr().out


@pytest.mark.usefixtures("german")
def test_doctor_gives_german_advice(capsys: pytest.CaptureFixture[str]) -> None:
    run(["doctor", "--offline"])
    assert "Es gibt noch kein Home" in capsys.readouterr().out


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("logs --limit -1", "hob: --limit -1 ist keine Zahl von Zeilen; 0 heißt alle\n"),
        ("erase", "hob: PERSON fehlt; siehe `hob erase --help`\n"),
        ("webhooks test nothing", "hob: kein Webhook heißt nothing; `hob webhooks list` zeigt sie\n"),
        ("config set agent.timezone Mars", "hob: agent.timezone: diese Zeitzone ist hier nicht bekannt"),
        ('config set gateway.trusted_proxies ["0.0.0.0/0"]', "hob: gateway: trusted_proxies: '0.0.0.0/0' umfasst fast"),
    ],
)
def test_errors_are_german(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words.split()) in (1, 2)
    assert capsys.readouterr().err.startswith(told)


@pytest.mark.usefixtures("german")
def test_choices_of_settings_are_not_translated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = {dotted(path): each.rules for path, each in walk(sections_of(tmp_path, {})) if isinstance(each.kind, type)}
    listed = {key: rules.one_of for key, rules in words.items() if rules.one_of}
    assert {"policy.mode", "model.thinking"} <= set(listed)
    for key, choices in listed.items():
        assert run(["config", "set", key, "nosuch"]) == 2
        told = re.split(r"[ ,]+", capsys.readouterr().err)
        assert {choice for choice in choices if choice} <= set(told), key


def test_json_is_the_same_in_every_language(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["security", "audit", "--json"]) in (0, 1)
    english = capsys.readouterr().out
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert run(["security", "audit", "--json"]) in (0, 1)
    assert capsys.readouterr().out == english


def test_help_in_english_loads_no_catalog() -> None:
    code = "import sys, hob.cli.table as table; table.overview(); print('gettext' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (said.stdout, said.stderr) == ("False\n", "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("status --jsn", "hob: unbekannte Option --jsn; meintest du --json? siehe `hob status --help`"),
        ("onbord", "hob: unbekannter Befehl onbord; meintest du onboard? siehe `hob --help`"),
        ("usage --days x", "hob: --days braucht eine Zahl, nicht 'x'; siehe `hob usage --help`"),
        (
            "logs --level x",
            "hob: ungültiger Wert 'x' für --level; zur Wahl: debug, info, warning, error, critical; siehe",
        ),
        ("usage --days 1 --days 2", "hob: --days steht mehr als einmal da; siehe `hob usage --help`"),
    ],
)
def test_wrong_use_is_reported_in_the_terminals_language(
    words: str, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert run(words.split()) == 2
    assert capsys.readouterr().err.startswith(told)


LETTERS = str.maketrans(
    {chr(ord(first) + n): chr(other + n) for first, other in (("A", 0x1D5A0), ("a", 0x1D5BA)) for n in range(26)}
)
ENGLISH = re.compile("[A-Za-z]{2,} [a-z]{2,}")


def in_other_letters(message: str) -> str:
    """Return the message with unusual letters outside its placeholders."""
    return "".join(
        part if part.startswith("{") else part.translate(LETTERS) for part in re.split(r"(\{[^}]*\})", message)
    )


@pytest.fixture
def other_letters(german: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A language whose catalog uses its own letters, so that untranslated text stands out."""
    catalog = Catalog(locale="de")
    for entry in load("de"):
        forms = (entry.id,) if isinstance(entry.id, str) else tuple(entry.id)
        told = tuple(map(in_other_letters, forms))
        if entry.id:
            catalog.add(entry.id, told if len(told) > 1 else told[0])
    into = tmp_path / "de" / "LC_MESSAGES" / "hob.mo"
    into.parent.mkdir(parents=True)
    with into.open("wb") as file:
        write_mo(file, catalog)
    monkeypatch.setattr(language, "CATALOG_FOLDER", str(tmp_path))
    language._catalog.cache_clear()
    yield
    language._catalog.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("other_letters")
def test_commands_print_no_untranslated_english(capsys: pytest.CaptureFixture[str]) -> None:
    found: list[tuple[str, str]] = []
    assert run(["prompt"]) == 0  # creates the home and its identity files
    assert run(["accept", "--all"]) == 0
    capsys.readouterr()
    for words in (
        "status", "accept", "audit show", "audit verify", "tasks --all", "timeline", "usage", "sessions",
        "memory stats", "memory search", "models", "approvals", "people", "plugins", "mcp", "webhooks list",
        "token list", "auth list", "policy explain exec env", "security audit",
        "policy explain nothing x", "policy explain exec x --mode full", "tools explain nothing",
        "tools list", "config check", "config set gateway.port 99999999", "config get nothing.at.all",
        "secrets list", "secrets set nothing", "pairing", "pairing approve x", "people unlink x", "approvals show x",
        "approvals allow x", "approvals grants", "grants", "models set", "models test nosuch/x", "memory embedding",
        "memory show x", "memory why", "memory facts", "memory goals", "memory forget", "memory reset x",
        "memory reindex",
        "retry", "retry x", "undo", "undo x", "replay x", "accept x", "erase nobody", "export --session no",
        "mcp list", "mcp add x", "mcp test x", "mcp remove x", "webhooks test x", "token revoke x", "auth login x",
        "plugins enable x", "sessions show nothing", "sessions delete nothing --yes", "stop", "resume",
        "import nothing", "completion nothing", "logs --limit x", "nothing",
    ):  # fmt: skip
        run(words.split())
        said = capsys.readouterr()
        for line in (said.out + said.err).splitlines():
            found += [(words, line)] if ENGLISH.search(re.sub(r"`[^`]*`|“[^”]*”|'[^']*'|/\S+", "", line)) else []
    assert found == []
