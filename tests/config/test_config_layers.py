"""Layers, types and origins."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.config.loading import Config, load_config
from hob.config.problems import ConfigInvalid, ConfigLayer, UnknownKey
from hob.core.settings import Secret, setting
from hob.providers.settings import ModelSettings


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Price:
    """A price."""

    input: float
    output: float = setting(0.0, "Out.", at_least=0)


@dataclass(frozen=True, slots=True)
class Tls:
    """Certificates."""

    cert: Path | None = setting(None, "Certificate.")
    strict: bool = setting(True, "Refuse old ones.")


@dataclass(frozen=True, slots=True)
class Web:
    """The web."""

    host: str = setting("127.0.0.1", "Host.")
    port: int = setting(80, "Port.", at_least=0, at_most=65535)
    wait: float = setting(1.5, "Seconds.", stored=True)
    token: Secret | None = setting(None, "Token.")
    colour: Colour = setting(Colour.RED, "Colour.", stored=True)
    mode: Literal["fast", "slow"] = setting("fast", "Mode.")
    names: list[str] = setting([], "Names.", one_of=("", "x", "y", "z"))
    folder: Path = setting(Path("~/web"), "Folder.")
    limit: int | None = setting(None, "Limit.")
    headers: dict[str, str] = setting({}, "Headers.")
    prices: dict[str, Price] = setting({}, "Prices.")
    tls: Tls = setting(Tls(strict=False), "TLS.")


@dataclass(frozen=True, slots=True)
class WebPages:
    """A section whose name begins with another section's."""

    port_name: str = setting("", "Name.")
    low: int = setting(1, "Low.")
    high: int = setting(2, "High.")

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


SECTIONS: Mapping[str, type] = {"web": Web, "web_pages": WebPages}


def load(home: Path, text: str | None = None, **layers: Any) -> Config:
    if text is not None:
        (home / "config.toml").write_text(text)
    return load_config(SECTIONS, home=home, **{"environ": {"HOME": "/home/ann"}, **layers})


def problems(home: Path, text: str | None = None, **layers: Any) -> list[str]:
    with pytest.raises(ConfigInvalid) as caught:
        load(home, text, **layers)
    return [str(each).removeprefix(f"{home}/") for each in caught.value.problems]


def test_defaults_apply_without_file_and_variables(tmp_path: Path) -> None:
    config = load(tmp_path)
    assert config[Web].port == 80
    assert config[Web].tls == Tls(strict=False)
    assert config.origin("web.port").layer is ConfigLayer.DEFAULT
    assert config.section("web_pages") == WebPages()


def test_each_layer_outranks_the_one_before(tmp_path: Path) -> None:
    file, environ = "[web]\nwait = 2.0\n", {"HOB_WEB_WAIT": "3"}
    stored, flags = {"web.wait": "4"}, {"web.wait": "5"}
    assert load(tmp_path, file)[Web].wait == 2
    assert load(tmp_path, environ=environ)[Web].wait == 3
    assert load(tmp_path, environ=environ, stored=stored)[Web].wait == 4
    config = load(tmp_path, environ=environ, stored=stored, flags=flags)
    assert config[Web].wait == 5
    assert str(config.origin("web.wait")) == "flag"


def test_origin_names_the_line_or_the_variable(tmp_path: Path) -> None:
    text = '[web]\nport = 81\n[web.prices."a.b"]\ninput = 1\n'
    config = load(tmp_path, text, environ={"HOB_WEB_HOST": "::1"}, stored={"web.wait": "4"})
    assert str(config.origin("web.port")) == f"file {tmp_path}/config.toml:2:1"
    assert str(config.origin('web.prices."a.b".input')) == f"file {tmp_path}/config.toml:4:1"
    assert str(config.origin("web.host")) == "environment HOB_WEB_HOST"
    assert str(config.origin("web.wait")) == "stored"


def test_values_of_the_file_get_their_types(tmp_path: Path) -> None:
    text = """
        [web]
        port = 8080
        wait = 2
        colour = "blue"
        names = ["x", "y"]
        limit = 5
        headers = { A = "b" }
        prices.gpt = { input = 2 }
        tls.cert = "certs/a.pem"
    """
    web = load(tmp_path, text)[Web]
    assert (web.port, web.wait, web.colour, web.names) == (8080, 2.0, Colour.BLUE, ["x", "y"])
    assert (web.limit, web.headers, web.prices) == (5, {"A": "b"}, {"gpt": Price(2.0)})
    assert type(web.wait) is float
    assert web.tls == Tls(tmp_path / "certs/a.pem", strict=False)


def test_values_of_the_environment_get_their_types(tmp_path: Path) -> None:
    environ = {
        "HOB_WEB_PORT": " 8080 ",
        "HOB_WEB_COLOUR": "blue",
        "HOB_WEB_NAMES": "x, y,",
        "HOB_WEB_HEADERS": '{A = "b, c"}',
        "HOB_WEB_PRICES": '{"gpt-4.1" = {input = 2.5}}',
        "HOB_WEB_TLS_STRICT": "Yes",
        "HOB_WEB_LIMIT": "7",
    }
    web = load(tmp_path, environ=environ)[Web]
    assert (web.port, web.colour, web.names, web.headers) == (8080, Colour.BLUE, ["x", "y"], {"A": "b, c"})
    assert (web.prices, web.tls.strict, web.limit) == ({"gpt-4.1": Price(2.5)}, True, 7)


def test_tilde_in_defaults_means_the_home_directory(tmp_path: Path) -> None:
    assert load(tmp_path)[Web].folder == Path("/home/ann/web")
    assert load(tmp_path, '[web]\nfolder = "~/x"\n')[Web].folder == Path("/home/ann/x")


def test_relative_path_is_resolved_against_its_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert load(tmp_path, '[web]\nfolder = "x"\n')[Web].folder == tmp_path / "x"
    assert load(tmp_path, environ={"HOB_WEB_FOLDER": "x"})[Web].folder == elsewhere / "x"


def test_names_with_underscores_reach_the_right_section(tmp_path: Path) -> None:
    config = load(tmp_path, environ={"HOB_WEB_PORT": "1", "HOB_WEB_PAGES_PORT_NAME": "p"})
    assert (config[Web].port, config[WebPages].port_name) == (1, "p")


def test_two_keys_with_one_variable_are_a_programming_error(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Clash:
        pages_low: int = setting(1, "Clashes with web_pages.low.")

    with pytest.raises(ValueError, match="HOB_WEB_PAGES_LOW would set both"):
        load_config({"web": Clash, "web_pages": WebPages}, home=tmp_path, environ={"HOB_WEB_PAGES_LOW": "1"})


def test_empty_variable_counts_as_not_set(tmp_path: Path) -> None:
    config = load(tmp_path, "[web]\nport = 81\n", environ={"HOB_WEB_PORT": "", "HOB_WEB_TOKEN": " "})
    assert (config[Web].port, config[Web].token) == (81, None)


def test_unknown_variable_of_a_known_section_is_an_error(tmp_path: Path) -> None:
    found = problems(tmp_path, environ={"HOB_WEB_PROT": "1"})
    assert found == ["HOB_WEB_PROT: this variable sets nothing; did you mean HOB_WEB_PORT?"]


def test_unknown_variable_of_no_section_is_a_warning(tmp_path: Path) -> None:
    config = load(tmp_path, environ={"HOB_HOME": "/x", "HOB_WBE_PORT": "1", "WEB_PORT": "2"})
    assert [str(each) for each in config.warnings] == [
        "HOB_WBE_PORT: this variable sets nothing; did you mean HOB_WEB_PORT?"
    ]
    assert config[Web].port == 80


def test_variables_are_substituted_in_the_files_texts(tmp_path: Path) -> None:
    text = '[web]\nhost = "a-${NAME}-$${NAME}-$x"\nport = "${PORT}"\n[web.headers]\nA = "${NAME}"\n'
    web = load(tmp_path, text, environ={"NAME": "${PORT}", "PORT": "9"})[Web]
    assert (web.host, web.port, web.headers) == ("a-${PORT}-${NAME}-$x", 9, {"A": "${PORT}"})


def test_missing_variable_is_reported_by_name(tmp_path: Path) -> None:
    found = problems(tmp_path, '[web]\nhost = "${NOPE}"\nmode = "${"\nnames = ["${a b}"]\n')
    assert found[0] == "config.toml:2:1: web.host: the variable NOPE is not set"
    assert "web.mode: `${` has no closing brace" in found[1]
    assert "names[0]: between `${` and `}` stands no variable's name" in "".join(found)


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    text = """[web]
port = 99999
hots = "x"
wait = "long"
colour = "bleu"
names = ["x", "q"]
limit = true
prices.a.inptu = 3
prices.b = 4
[web.tls]
strikt = false
[wbe]
port = 1
"""
    found = problems(tmp_path, text, environ={"HOB_WEB_PORT": "abc"}, flags={"web.prot": "1"})
    assert found == [
        "config.toml:2:1: web.port: must be at most 65535, not 99999",
        "config.toml:3:1: web.hots: unknown key; did you mean web.host?",
        "config.toml:4:1: web.wait: expected a number, not 'long'",
        "config.toml:5:1: web.colour: must be red or blue, not 'bleu'; did you mean blue?",
        "config.toml:6:15: web.names[1]: must be empty, x, y or z, not 'q'",
        "config.toml:7:1: web.limit: expected a whole number, not true",
        "config.toml:8:10: web.prices.a.inptu: unknown key; did you mean web.prices.a.input?",
        "config.toml:9:8: web.prices.b: expected a table, not 4",
        "config.toml:11:1: web.tls.strikt: unknown key; did you mean web.tls.strict?",
        "config.toml:12:2: wbe: unknown section; did you mean web?",
        "HOB_WEB_PORT: web.port: expected a whole number, not 'abc'",
        "flag: web.prot: unknown key; did you mean web.port?",
    ]


def test_key_in_the_wrong_section_is_reported_with_the_right_one(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, "[web]\nport_name = 'x'\n")
    assert found.endswith("unknown key; did you mean web_pages.port_name?")


def test_missing_required_key_is_reported(tmp_path: Path) -> None:
    found = problems(tmp_path, "[web.prices.a]\noutput = 1\n")
    assert found == ["config.toml:1:13: web.prices.a.input: is missing and has no default"]


def test_violated_rule_between_keys_is_reported_at_its_section(tmp_path: Path) -> None:
    found = problems(tmp_path, "\n[web_pages]\nlow = 3\n")
    assert found == ["config.toml:2:2: web_pages: low is above high"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("port = 1.0", "expected a whole number, not 1.0"),
        ("port = '1'", "expected a whole number, not '1'"),
        ("port = true", "expected a whole number, not true"),
        ("wait = nan", "expected a finite number, not nan"),
        ("wait = -inf", "expected a finite number, not -inf"),
        (f"wait = 1{'0' * 400}", "the number is too large"),
        (f"limit = 0x{'f' * 5000}", "the number is too large"),
        ("host = 1979-05-27", "expected text, not 1979-05-27"),
        ("host = ['a']", "expected text, not a list"),
        ("names = 'x'", "expected a list, not 'x'"),
        ("tls = 1", "expected a table, not 1"),
        ("folder = ''", "the path is empty"),
        ("token = 5", "expected text, not a whole number"),
        ("token = ''", "the secret is empty"),
    ],
)
def test_types_are_strict(tmp_path: Path, value: str, reason: str) -> None:
    (found,) = problems(tmp_path, f"[web]\n{value}\n")
    assert reason in found


def test_section_that_is_not_a_table_is_reported(tmp_path: Path) -> None:
    assert problems(tmp_path, "web = 1\n") == ["config.toml:1:1: web: expected a table, not a whole number"]


def test_stored_override_that_no_longer_fits_is_ignored_with_a_warning(tmp_path: Path) -> None:
    stored = {"web.wait": "long", "web.colour": "blue", "web.port": "3", "web.gone": "1"}
    config = load(tmp_path, stored=stored)
    assert (config[Web].wait, config[Web].colour, config[Web].port) == (1.5, Colour.BLUE, 80)
    assert [each.reason for each in config.warnings] == [
        "ignored: expected a number, not 'long'",
        "ignored: this key cannot be changed at run time",
        "ignored: unknown key",
    ]


def test_stored_overrides_can_be_replaced_without_reading_again(tmp_path: Path) -> None:
    config = load(tmp_path, "[web]\nport = 81\nwait = 2\n", stored={"web.wait": "4"})
    (tmp_path / "config.toml").write_text("garbage")
    other = config.with_stored({})
    assert (other[Web].port, other[Web].wait, config[Web].wait) == (81, 2.0, 4.0)


def test_value_is_found_by_its_dotted_key(tmp_path: Path) -> None:
    config = load(tmp_path, '[web.prices."gpt-4.1"]\ninput = 2\n')
    assert config.get('web.prices."gpt-4.1".input') == 2.0
    assert config.get("web.tls.strict") is False
    assert config.get("web_pages") == WebPages()


@pytest.mark.parametrize(
    ("key", "hint"), [("web.prot", "web.port"), ("wbe", "web"), ("web.prices.gtp.input", "web.prices.gpt"), ("", "")]
)
def test_unknown_key_is_reported_with_the_nearest(tmp_path: Path, key: str, hint: str) -> None:
    config = load(tmp_path, "[web.prices.gpt]\ninput = 2\n")
    with pytest.raises(UnknownKey) as caught:
        config.get(key)
    assert caught.value.problems[0].hint == hint


@given(
    st.dictionaries(st.sampled_from(["HOB_WEB_PORT", "HOB_WEB_NAMES", "HOB_WEB_HEADERS", "HOB_WEB_PRICES"]), st.text())
)
def test_any_text_of_a_variable_is_read_or_refused(tmp_path: Path, environ: dict[str, str]) -> None:
    with suppress(ConfigInvalid):
        web = load(tmp_path, environ=environ)[Web]
        assert 0 <= web.port <= 65535
        assert set(web.names) <= {"x", "y", "z"}
        assert all(isinstance(each, str) for each in web.headers.values())


def test_client_variables_of_the_how_tos_are_not_settings(tmp_path: Path) -> None:
    assert load(tmp_path, environ={"HOB_TOKEN": "t", "HOB_URL": "http://127.0.0.1:1"}).warnings == ()


def test_violated_rule_names_the_variable_that_broke_it(tmp_path: Path) -> None:
    """Regression: the line of the file was blamed although the value came from elsewhere."""
    (tmp_path / "config.toml").write_text("[model]\nname = 'fake-1'\n")
    with pytest.raises(ConfigInvalid) as refused:
        load_config({"model": ModelSettings}, home=tmp_path, environ={"HOB_MODEL_BASE_URL": "no address/"})
    assert [str(problem.place) for problem in refused.value.problems] == ["HOB_MODEL_BASE_URL"]


@dataclass(frozen=True)
class Renamed:
    waiting: int = setting(20, "Messages that may wait.", at_least=1, stored=True, formerly="lane")


def renamed(home: Path, text: str = "", environ: Mapping[str, str] | None = None) -> Config:
    (home / "config.toml").write_text(text)
    return load_config({"queue": Renamed}, home=home, environ=environ or {})


def test_setting_is_read_under_its_former_name_with_a_warning(tmp_path: Path) -> None:
    of_file = renamed(tmp_path, "[queue]\nlane = 3\n")
    of_environment = renamed(tmp_path, environ={"HOB_QUEUE_LANE": "4"})
    stored = load_config({"queue": Renamed}, home=tmp_path / "other", environ={}, stored={"queue.lane": "5"})
    assert (of_file[Renamed].waiting, of_environment[Renamed].waiting, stored[Renamed].waiting) == (3, 4, 5)
    assert [each.reason for each in of_file.warnings] == ["queue.lane is called queue.waiting now"]
    assert [each.reason for each in of_environment.warnings] == ["HOB_QUEUE_LANE is called HOB_QUEUE_WAITING now"]
    assert of_file.get("queue.lane") == 3


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        ("[queue]\nlane = 3\nwaiting = 4\n", {}),
        ("", {"HOB_QUEUE_LANE": "3", "HOB_QUEUE_WAITING": "4"}),
    ],
    ids=["file", "environment"],
)
def test_setting_under_both_names_is_refused(tmp_path: Path, text: str, environ: dict[str, str]) -> None:
    with pytest.raises(ConfigInvalid, match="is set too; remove one of the two"):
        renamed(tmp_path, text, environ)
