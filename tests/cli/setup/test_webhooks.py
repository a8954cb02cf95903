"""`hob webhooks`, and the settings of webhooks."""

import json
from pathlib import Path

import pytest

from hob.app.settings.sections import SECTIONS
from hob.cli.table import run
from hob.config.loading import load_config
from hob.config.problems import ConfigInvalid
from hob.gateway.webhooks.settings import Webhooks

SECRET = "a-secret-of-the-tests-0123"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    return tmp_path


def write(home: Path, text: str) -> None:
    (home / "config.toml").write_text(text)
    (home / "config.toml").chmod(0o600)


def test_webhooks_are_tables_of_their_own(home: Path) -> None:
    write(home, f'[webhooks.github]\nsecret = "{SECRET}"\nscheme = "github"\n[webhooks.till]\nsecret = "{SECRET}"\n')
    config = load_config(SECTIONS, home=home, environ={})
    assert list(config[Webhooks]) == ["github", "till"]
    assert config.get("webhooks.github.scheme") == "github"
    assert config.origin("webhooks.github.scheme").place is not None
    assert [name for name, _ in config.secrets()] == ["webhooks.github.secret", "webhooks.till.secret"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[webhooks.it]\n", "secret is missing"),
        (f'[webhooks.it]\nsecret = "{SECRET}"\ntemplate = "{{{{a b}}}}"\n', "is not a placeholder"),
        (f'[webhooks.it]\nsecret = "{SECRET}"\ntask = "/stop"\n', "it cannot be a slash command"),
        (f'[webhooks.it]\nsecret = "{SECRET}"\ntask = "do {{{{text}}}}"\n', "fields into the template"),
        (f'[webhooks.it]\nsecret = "{SECRET}"\nscheme = "gitub"\n', "did you mean github"),
        (f'[webhooks.it]\nsecret = "{SECRET}"\nshceme = "github"\n', "webhooks.it.scheme"),
        (f'[webhooks."a/b"]\nsecret = "{SECRET}"\n', "invalid webhook name"),
        ("[webhooks]\nit = 1\n", "expected a table"),
    ],
)
def test_invalid_webhook_is_refused_before_the_start(home: Path, text: str, reason: str) -> None:
    write(home, text)
    with pytest.raises(ConfigInvalid, match=reason):
        load_config(SECTIONS, home=home, environ={})


def test_webhook_settings_can_be_set_by_command(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(home, f'[webhooks.it]\nsecret = "{SECRET}"\n')
    assert run(["config", "set", "webhooks.it.answer", "owner"]) == 0
    assert run(["config", "get", "webhooks.it.answer"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "owner"


def test_list_reports_disabled_webhooks_and_shows_no_secret(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(home, f'[webhooks.good]\nsecret = "{SECRET}"\n[webhooks.bad]\nsecret = "env:NOT_THERE"\n')
    assert run(["webhooks"]) == 0
    shown = capsys.readouterr().out
    assert "POST /hooks/good" in shown
    assert "NOT_THERE" in shown
    assert SECRET not in shown
    assert run(["webhooks", "list", "--json"]) == 0
    views = json.loads(capsys.readouterr().out)["webhooks"]
    assert [(view["name"], view["problem"] is None) for view in views] == [("good", True), ("bad", False)]


def test_webhook_test_needs_a_daemon_and_a_known_name(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(home, f'[webhooks.it]\nsecret = "{SECRET}"\n')
    assert run(["webhooks", "test", "it"]) == 1
    assert "hob serve" in capsys.readouterr().err
    assert run(["webhooks", "test", "other"]) == 1
    assert "hob webhooks list" in capsys.readouterr().err
