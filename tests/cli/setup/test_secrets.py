"""`hob secrets`: stored privately, referred to by settings, never shown."""

import io
import json
import stat
from pathlib import Path

import pytest

from hob.cli.table import run

VALUE, NEXT = "sk-canary-0123456789abcdef", "sk-canary-fedcba9876543210"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    return tmp_path


def typed(monkeypatch: pytest.MonkeyPatch, text: str, *arguments: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return run(["secrets", *arguments])


def test_secret_is_kept_rotated_listed_and_removed_without_being_shown(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / "secrets" / "model.api_key"
    assert typed(monkeypatch, f"{VALUE}\n", "set", "model.api_key") == 0
    assert file.read_text() == f"{VALUE}\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert VALUE not in (home / "config.toml").read_text()
    assert typed(monkeypatch, NEXT, "rotate", "model.api_key") == 0
    assert file.read_text() == f"{NEXT}\n"
    (home / "secrets" / "left").write_text("x")
    capsys.readouterr()
    assert run(["secrets", "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)
    assert [(row["key"], row["reference"], row["problem"]) for row in seen["secrets"]] == [
        ("model.api_key", f"file:{file}", None)
    ]
    assert seen["unused"] == ["left"]
    assert run(["secrets", "list"]) == 0
    assert typed(monkeypatch, "", "remove", "model.api_key", "--yes") == 0
    assert not file.exists()
    assert run(["secrets"]) == 0
    shown = capsys.readouterr()
    assert VALUE not in shown.out + shown.err
    assert NEXT not in shown.out + shown.err


def test_rotating_a_plain_secret_moves_it_out_of_the_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config.toml").write_text(f'[model]\napi_key = "{VALUE}"\n')
    assert run(["secrets"]) == 0
    assert "in plain text" in capsys.readouterr().out
    assert typed(monkeypatch, NEXT, "rotate", "model.api_key") == 0
    assert "canary" not in (home / "config.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "text", "said"),
    [
        (["set", "model.base_url"], VALUE, "is not a secret"),
        (["set", "model.api_kye"], VALUE, "model.api_key"),
        (["set", "model.api_key"], "", "one line"),
        (["set", "model.api_key"], "two\nlines", "one line"),
        (["rotate", "model.api_key"], VALUE, "hob secrets list"),
        (["remove", "model.api_key", "--yes"], "", "hob secrets list"),
    ],
)
def test_invalid_change_of_a_secret_changes_nothing_and_says_what_is_possible(
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    text: str,
    said: str,
) -> None:
    assert typed(monkeypatch, text, *arguments) != 0
    assert said in capsys.readouterr().err
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize("reference", ["env:SOME_KEY", "file:/elsewhere/key"])
def test_external_secret_must_be_changed_at_its_place(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], reference: str
) -> None:
    (home / "config.toml").write_text(f'[model]\napi_key = "{reference}"\n')
    assert typed(monkeypatch, VALUE, "rotate", "model.api_key") == 2
    assert "change it there" in capsys.readouterr().err
    assert run(["secrets"]) == 0
    shown = capsys.readouterr().out
    assert reference in shown
    assert "is not set" in shown or "cannot be read" in shown


def test_removal_without_a_terminal_removes_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, VALUE, "set", "model.api_key") == 0
    assert typed(monkeypatch, "y\n", "remove", "model.api_key") == 2
    assert "--yes" in capsys.readouterr().err
    assert (home / "secrets" / "model.api_key").exists()
