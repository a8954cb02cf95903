"""`hob config`, called as the command line calls it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from hob.app.settings.sections import SECTIONS as BUILT_IN
from hob.cli.setup.config import check_settings, print_setting, set_setting, show_settings, unset_setting
from hob.config.loading import Config, load_config
from hob.core.settings import Secret, setting


@dataclass(frozen=True, slots=True)
class Price:
    """A price."""

    input: float = setting(0.0, "In.")


@dataclass(frozen=True, slots=True)
class Web:
    """The web."""

    host: str = setting("a", "Host.")
    port: int = setting(80, "Port.", at_least=-1)
    token: Secret | None = setting(None, "Token.")
    prices: dict[str, Price] = setting({}, "Prices.")


SECTIONS: Mapping[str, type] = {"web": Web}


def load(home: Path, text: str = "", environ: Mapping[str, str] | None = None) -> Config:
    (home / "config.toml").write_text(text)
    return load_config(SECTIONS, home=home, environ=environ or {})


def test_show_hides_secrets_and_names_origins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '[web]\ntoken = "s3cret"\nprices.gpt.input = 2\n'
    assert show_settings(load(tmp_path, text, {"HOB_WEB_PORT": "81"}), origin=True) == 0
    assert capsys.readouterr().out.splitlines() == [
        "# [web] The web.",
        'web.host = "a"  # default',
        "web.port = 81  # environment HOB_WEB_PORT",
        f"web.token = ••••  # file {tmp_path}/config.toml:2:1",
        f'web.prices = {{ "gpt" = {{ "input" = 2.0 }} }}  # file {tmp_path}/config.toml:3:1',
    ]


def test_show_names_the_reference_of_a_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_settings(load(tmp_path, '[web]\ntoken = "env:KEY"\n'))
    assert "web.token = •••• (env:KEY)" in capsys.readouterr().out


def test_show_as_json_is_json_without_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = load(tmp_path, '[web]\ntoken = "s3cret"\nprices.gpt.input = 2\n')
    show_settings(config, as_json=True)
    assert json.loads(capsys.readouterr().out) == {
        "web": {"host": "a", "port": 80, "token": "••••", "prices": {"gpt": {"input": 2.0}}}
    }
    show_settings(config, as_json=True, origin=True)
    found = json.loads(capsys.readouterr().out)["web.token"]
    assert found == {"value": "••••", "layer": "file", "place": f"{tmp_path}/config.toml:2:1"}


@pytest.mark.parametrize(
    ("key", "printed"),
    [
        ("web.host", "a\n"),
        ("web.port", "80\n"),
        ("web.token", "••••\n"),
        ("web.prices.gpt", "input = 2.0\n"),
        ("web.prices.gpt.input", "2.0\n"),
    ],
)
def test_get_prints_the_bare_value(tmp_path: Path, capsys: pytest.CaptureFixture[str], key: str, printed: str) -> None:
    config = load(tmp_path, '[web]\ntoken = "s3cret"\nprices.gpt.input = 2\n')
    assert print_setting(config, key) == 0
    assert capsys.readouterr().out == printed


def test_get_reveals_a_secret_only_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert print_setting(load(tmp_path, '[web]\ntoken = "s3cret"\n'), "web.token", reveal=True) == 0
    assert capsys.readouterr().out == "s3cret\n"
    assert print_setting(load(tmp_path, '[web]\ntoken = "env:NO"\n'), "web.token", reveal=True) == 2
    assert capsys.readouterr().err == "hob: web.token: the variable NO is not set\n"


def test_unknown_key_gives_status_2_and_a_suggestion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert print_setting(load(tmp_path), "web.prot") == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "hob: web.prot: unknown key; did you mean web.port?\n")


def test_set_and_unset_change_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert set_setting("web.port", "-1", sections=SECTIONS, home=tmp_path, environ={}) == 0
    assert print_setting(load_config(SECTIONS, home=tmp_path, environ={}), "web.port") == 0
    assert unset_setting("web.port", sections=SECTIONS, home=tmp_path, environ={}) == 0
    assert print_setting(load_config(SECTIONS, home=tmp_path, environ={}), "web.port") == 0
    assert capsys.readouterr() == ("-1\n80\n", "now in force: web.port = 80  # default\n")


def test_unset_reports_the_effective_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"HOB_WEB_PORT": "5"}
    assert unset_setting("web.port", sections=SECTIONS, home=tmp_path, environ=environ) == 0
    assert capsys.readouterr().err == (
        f"web.port is not in {tmp_path / 'config.toml'}\nnow in force: web.port = 5  # environment HOB_WEB_PORT\n"
    )


def test_set_reports_a_layer_that_outranks_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    environ = {"HOB_WEB_PORT": "5"}
    assert set_setting("web.port", "6", sections=SECTIONS, home=tmp_path, environ=environ) == 0
    assert "but environment HOB_WEB_PORT outranks it" in capsys.readouterr().err


def test_wrong_value_is_not_set_and_gives_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert set_setting("web.port", "-2", sections=SECTIONS, home=tmp_path, environ={}) == 2
    assert capsys.readouterr().err == "hob: web.port: must be at least -1, not -2\n"
    assert not (tmp_path / "config.toml").exists()


def test_check_names_every_problem_and_gives_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.toml").write_text("[web]\nprot = 1\nport = 'x'\n")
    assert check_settings(sections=SECTIONS, home=tmp_path, environ={}) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{tmp_path}/config.toml:2:1: web.prot: unknown key; did you mean web.port?",
        f"{tmp_path}/config.toml:3:1: web.port: expected a whole number, not 'x'",
        "2 problems; Hob would not start",
    ]


def test_check_reads_every_secret(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.toml").write_text("[web]\ntoken = 'file:gone'\n")
    assert check_settings(sections=SECTIONS, home=tmp_path, environ={}) == 2
    assert "web.token: the file" in capsys.readouterr().err


def test_check_reports_literal_secrets_and_unknown_variables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.toml").touch(mode=0o600)
    (tmp_path / "config.toml").write_text("[web]\ntoken = 's3cret'\n")
    assert check_settings(sections=SECTIONS, home=tmp_path, environ={"HOB_WBE_PORT": "1"}) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{tmp_path}/config.toml: ok\n"
    assert "warning: HOB_WBE_PORT: this variable sets nothing; did you mean HOB_WEB_PORT?" in captured.err
    assert "web.token: the secret is in plain text in the file" in captured.err
    assert "s3cret" not in captured.err


def test_show_has_a_heading_per_section_in_the_terminals_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = load_config(BUILT_IN, home=tmp_path, environ={})
    show_settings(config)
    heads = [line for line in capsys.readouterr().out.splitlines() if line.startswith("# [")]
    assert [head.partition("]")[0].removeprefix("# [") for head in heads] == [*BUILT_IN]
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    show_settings(config, "web.search")
    assert capsys.readouterr().out.splitlines() == [
        "# [web] Wer gefragt wird, wenn Hob im Web sucht.",
        "web.search = (nicht gesetzt)  # Der Dienst, der das Web durchsucht; nicht gesetzt: Hob kann nicht suchen.",
    ]
