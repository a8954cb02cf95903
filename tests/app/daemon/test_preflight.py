"""`hob config` says of the API's settings what the start would say."""

from pathlib import Path

import pytest

from hob.app.settings.sections import SECTIONS
from hob.cli.table import run
from hob.config.loading import load_config
from hob.gateway.settings import GatewaySettings

PEM = Path(__file__).parents[2] / "journeys" / "localhost.pem"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    return tmp_path


def test_guessable_token_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "set", "gateway.auth_token", "short"]) == 2
    assert "shorter than 16 characters" in capsys.readouterr().err
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("auth_token = 'short'", "shorter than 16"),
        ("auth_token = 'file:{home}/short'", "shorter than 16"),
        ("tls_cert = '/nowhere/cert.pem'", "cannot be read"),
        ("tls_cert = '{home}/short'", "not a certificate and its key"),
        (f"tls_key = '{PEM}'", "gateway.tls_cert is not"),
        ("[admission]\npassphrase = 'ab'", "passphrase"),
    ],
)
def test_config_check_reports_what_the_start_would(
    home: Path, text: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "short").write_text("short")
    (home / "short").chmod(0o600)
    (home / "config.toml").write_text("[gateway]\n" + text.format(home=home))
    assert run(["config", "check"]) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert "ok" not in captured.out
    assert run(["doctor", "--offline"]) != 0
    assert complaint in " ".join(capsys.readouterr().out.split())


def test_half_configured_feature_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "set", "gateway.tls_key", str(PEM)]) == 0
    assert "Hob does not start like this" in capsys.readouterr().err
    assert run(["config", "set", "gateway.tls_cert", str(PEM)]) == 0
    assert "start" not in capsys.readouterr().err
    assert run(["config", "check"]) == 0


def test_validated_token_is_still_masked(home: Path) -> None:
    (home / "config.toml").write_text("[gateway]\nauth_token = 'long-enough-to-be-one'")
    token = load_config(SECTIONS, home=home, environ={})[GatewaySettings].auth_token
    told: list[str] = []
    assert token is not None
    token.on_read(told.append)
    assert [token.reveal()] == told


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("hosts = ['10.0.0.7']", "'10.0.0.7' is not a host name"),
        ("hosts = ['pypi.org', 'group:packets']", "no group of hosts 'group:packets'"),
        ("toolchains = ['cargoo']", "'cargoo' is neither a toolchain"),
        ("toolchains = ['/nowhere/at/all']", "there is no folder /nowhere/at/all"),
        ("environment = ['BASH_ENV']", "BASH_ENV is never passed to commands"),
    ],
)
def test_config_refuses_a_sandbox_setting_that_would_disable_every_command(
    home: Path, line: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config.toml").write_text(f"[sandbox]\n{line}\n")
    assert run(["config", "check"]) == 2
    said = capsys.readouterr().err
    assert "config.toml:2:" in said
    assert said.count(complaint) == 1
    assert said.count("10.0.0.7") <= 1
    assert run(["status"]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("name", ["Europe/Berlln", "Europe", "../../etc/passwd", "UTC+2"])
def test_config_refuses_a_time_zone_that_is_unknown(home: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.toml").write_text(f"[agent]\ntimezone = '{name}'\n")
    for command in (["config", "check"], ["serve"]):
        assert run(command) == 2
        said = capsys.readouterr().err
        assert "config.toml:2:" in said
        assert "no such time zone" in said
        assert name in said
    assert run(["doctor", "--offline"]) != 0
    assert "no such time zone" in " ".join(capsys.readouterr().out.split()).lower()


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[workspace]\nwork_repo = '~'", "workspace.work_repo"),
        ("[sandbox]\nread = ['/etc']", "sandbox.read"),
        ("[sandbox]\nwrite = ['notes']", "sandbox.write"),
    ],
)
def test_config_check_and_doctor_name_a_folder_that_commands_cannot_be_given(
    home: Path, text: str, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config.toml").write_text(text)
    assert run(["config", "check"]) == 0
    assert f"{key}: no command can run: " in capsys.readouterr().err
    run(["doctor", "--offline"])
    said = " ".join(capsys.readouterr().out.split())
    assert "no command can run" in said.lower()
    assert key in said


def test_config_refuses_tools_per_agent(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.toml").write_text("[policy.agents.main]\ndeny = ['exec']\n")
    assert run(["config", "check"]) == 2
    assert "policy.agents" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["subagents", "senders.stranger"])
def test_config_refuses_a_group_of_tools_that_does_not_exist(
    home: Path, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "config.toml").write_text(f"[policy.{where}]\ndeny = ['group:configuration', 'group:filez']\n")
    assert run(["config", "check"]) == 2
    assert "no group of tools filez, only all, files" in capsys.readouterr().err
