"""`hob config` says of the API's settings what the start would say."""

from pathlib import Path

import pytest

from hob.app.cli import run
from hob.app.sections import SECTIONS
from hob.config import load_config
from hob.gateway.settings import GatewaySettings

PEM = Path(__file__).parents[1] / "journeys" / "localhost.pem"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOB_HOME", str(tmp_path))
    return tmp_path


def test_a_token_that_can_be_guessed_is_not_set(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "set", "gateway.auth_token", "short"]) == 2
    assert "shorter than 16 characters" in capsys.readouterr().err
    assert not (home / "config.toml").exists()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("auth_token = 'short'", "shorter than 16"),
        ("auth_token = 'file:{home}/short'", "shorter than 16"),
        ("tls_cert = '/nowhere/cert.pem'", "cannot be read"),
        ("tls_cert = '{home}/short'", "no certificate with its key"),
        (f"tls_key = '{PEM}'", "gateway.tls_cert is not"),
        ("[admission]\npassphrase = 'ab'", "passphrase"),
    ],
)
def test_the_check_says_what_the_start_would(
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


def test_what_only_half_is_set_is_said_when_it_is_set(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "set", "gateway.tls_key", str(PEM)]) == 0
    assert "so Hob does not start" in capsys.readouterr().err
    assert run(["config", "set", "gateway.tls_cert", str(PEM)]) == 0
    assert "start" not in capsys.readouterr().err
    assert run(["config", "check"]) == 0


def test_a_token_that_was_measured_is_still_told_to_whoever_masks_it(home: Path) -> None:
    (home / "config.toml").write_text("[gateway]\nauth_token = 'long-enough-to-be-one'")
    token = load_config(SECTIONS, home=home, environ={})[GatewaySettings].auth_token
    told: list[str] = []
    assert token is not None
    token.tell(told.append)
    assert [token.reveal()] == told
