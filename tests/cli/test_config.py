"""`hob config` with values set at run time."""

from pathlib import Path

import pytest

from hob.app.home import own
from hob.cli.table import run


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOB_HOME", str(tmp_path / ".hob"))
    monkeypatch.setenv("HOB_WORKSPACE_PATH", str(tmp_path / "work"))


def test_set_says_when_a_value_set_at_run_time_outranks_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ("spending.daily 4", "--now spending.daily 5", "agent.max_rounds 7"):
        assert run(["config", "set", *words.split()]) == 0
    assert capsys.readouterr().err == "now in force: spending.daily = 5.0  # set with --now\n"
    assert run(["config", "set", "spending.daily", "6"]) == 0
    assert '`hob config set --now spending.daily ""` takes that back' in capsys.readouterr().err
    assert run(["config", "unset", "spending.daily"]) == 0
    assert capsys.readouterr().err == (
        "now in force: spending.daily = 5.0  # set with --now\n"
        'The value set with --now outranks it; `hob config set --now spending.daily ""` takes that back.\n'
    )
    assert run(["config", "set", "--now", "spending.daily", ""]) == 0
    assert capsys.readouterr().err == "now in force: spending.daily = (not set)  # default\n"
    assert run(["config", "set", "spending.daily", "7"]) == 0
    assert capsys.readouterr().err == ""


def test_unusable_embedder_is_reported_at_once_and_used_from_the_next_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, problem in (
        (str(tmp_path / "none"), "holds no sentence-transformers model: there is no config.json"),
        ("nobody/model", "nobody"),
    ):
        assert run(["config", "set", "model.embedding", name]) == 0
        told = capsys.readouterr().err
        assert "model.embedding is set, but memory cannot be searched by meaning with it" in told
        assert problem in told
        assert "prepares all memories for this model in the background" in told
        assert "`hob memory embedding` shows the progress." in told
    with own(tmp_path / ".hob", "serve"):
        assert run(["config", "set", "model.embedding", ""]) == 0
        assert "`hob stop`, then `hob serve`" in capsys.readouterr().err
        assert run(["config", "set", "model.read_seconds", "60"]) == 0
        assert "`hob secrets reload`" in capsys.readouterr().err


def test_show_and_get_report_the_value_set_at_run_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "set", "--now", "spending.daily_tokens", "5000"]) == 0
    capsys.readouterr()
    for words, told in (
        ("show spending.daily_tokens --origin", "spending.daily_tokens = 5000  # set with --now\n"),
        ("get spending.daily_tokens", "5000\n"),
    ):
        assert run(["config", *words.split()]) == 0
        assert capsys.readouterr().out.endswith(told)
    assert run(["config", "show", "spending.daily_tokens", "--origin", "--json"]) == 0
    assert '"layer": "stored"' in capsys.readouterr().out
