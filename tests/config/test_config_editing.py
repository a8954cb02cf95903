"""Changing one key leaves the rest of the file unchanged."""

import copy
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.config import editing
from hob.config.editing import set_value, unset_value
from hob.config.problems import ConfigInvalid, UnknownKey
from hob.core.settings import Secret, setting


@dataclass(frozen=True, slots=True)
class Price:
    """A price."""

    input: float = setting(0.0, "In.", at_least=0)


@dataclass(frozen=True, slots=True)
class Web:
    """The web."""

    host: str = setting("", "Host.")
    port: int = setting(80, "Port.", at_least=0)
    wait: float = setting(1.0, "Wait.")
    on: bool = setting(True, "On.")
    folder: Path = setting(Path("~/web"), "Folder.")
    token: Secret | None = setting(None, "Token.")
    names: list[str] = setting([], "Names.")
    prices: dict[str, Price] = setting({}, "Prices.")


@dataclass(frozen=True, slots=True)
class Agent:
    """The agent."""

    low: int = setting(1, "Low.")
    high: int = setting(9, "High.")

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise ValueError("low is above high")


SECTIONS: Mapping[str, type] = {"web": Web, "agent": Agent}

TEXT = """# mine

[web]   # the web
port   =  81  # odd
"host" = 'a'

# prices
[web.prices]
"gpt-4.1" = { input = 2.0 } # dear
"""


def put(path: Path, key: str, text: str) -> None:
    set_value(path, key, text, sections=SECTIONS, environ={})


def drop(path: Path, key: str) -> bool:
    return unset_value(path, key, sections=SECTIONS, environ={})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(TEXT)
    return path


def test_comments_and_layout_are_preserved(file: Path) -> None:
    put(file, "web.port", "82")
    assert file.read_text() == TEXT.replace("81", "82")


def test_inline_table_stays_inline(file: Path) -> None:
    put(file, 'web.prices."gpt-4.1".input', "3")
    assert file.read_text() == TEXT.replace("2.0", "3.0")


def test_new_file_is_private_and_has_a_header(tmp_path: Path) -> None:
    path = tmp_path / "home" / "config.toml"
    put(path, "web.port", "82")
    assert path.read_text().startswith("# Settings of Hob.")
    assert tomllib.loads(path.read_text()) == {"web": {"port": 82}}
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_file_readable_by_others_is_made_private(file: Path) -> None:
    file.chmod(0o644)
    put(file, "web.token", "s3cret")
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in file.parent.iterdir()] == ["config.toml"]


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("web.host", "b # c", "b # c"),
        ("web.host", "12", "12"),
        ("web.wait", "3", 3.0),
        ("web.on", "no", False),
        ("web.folder", "~/x", "~/x"),
        ("web.token", "env:KEY", "env:KEY"),
        ("web.names", "a, b", ["a", "b"]),
        ("web.names", '["a, b"]', ["a, b"]),
        ("web.prices.x", "{input = 2}", {"input": 2}),
        ("web.prices", '{"a.b" = {input = 2}}', {"a.b": {"input": 2}}),
    ],
)
def test_text_is_parsed_by_the_keys_type(file: Path, key: str, text: str, value: Any) -> None:
    put(file, key, text)
    found = tomllib.loads(file.read_text())
    for part in key.split("."):
        found = found[part]
    assert found == value


@pytest.mark.parametrize(
    ("key", "text", "reason"),
    [
        ("web.port", "-1", "web.port: must be at least 0, not -1"),
        ("web.port", "${PORT}", "the variable PORT is not set"),
        ("web.prices.x", "3", "web.prices.x: expected a table"),
        ("web.prices.x.inptu", "3", "web.prices.x.inptu: unknown key"),
        ("web.prot", "3", "web.prot: unknown key; did you mean web.port?"),
        ("web", "3", "web: this is a section; name a key in it"),
        ("web.wait", "nan", "web.wait: expected a number, not 'nan'"),
        ("web.wait", "-inf", "web.wait: expected a number, not '-inf'"),
        ("agent.low", "10", "agent: low is above high"),
    ],
)
def test_wrong_value_changes_nothing(file: Path, key: str, text: str, reason: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        put(file, key, text)
    assert reason in str(caught.value)
    assert file.read_text() == TEXT


def test_one_of_several_errors_can_be_fixed(file: Path) -> None:
    file.write_text('[web]\nport = "x"\nwait = "y"\nhots = 1\n')
    put(file, "web.port", "82")
    assert drop(file, "web.hots")
    assert file.read_text() == '[web]\nport = 82\nwait = "y"\n'


def test_invalid_toml_file_is_left_unchanged(file: Path) -> None:
    file.write_text("[web\n")
    with pytest.raises(ConfigInvalid, match=r"config.toml:1:5: "):
        put(file, "web.port", "82")
    assert file.read_text() == "[web\n"


def test_link_stays_a_link(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(file)
    put(link, "web.port", "82")
    assert link.is_symlink()
    assert "82" in file.read_text()


def test_windows_line_ends_are_preserved(file: Path) -> None:
    file.write_bytes(TEXT.replace("\n", "\r\n").encode())
    put(file, "web.wait", "2")
    assert file.read_bytes().replace(b"\r\n", b"").count(b"\n") == 0


def test_concurrent_edit_of_the_file_is_not_overwritten(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worse = editing._refuse_worse

    def meanwhile(*arguments: Any) -> None:
        worse(*arguments)
        file.write_text(TEXT + "# theirs\n")

    monkeypatch.setattr(editing, "_refuse_worse", meanwhile)
    with pytest.raises(ConfigInvalid, match="somebody else changed the file"):
        put(file, "web.port", "82")
    assert file.read_text() == TEXT + "# theirs\n"
    assert [each.name for each in file.parent.iterdir()] == ["config.toml"]


def test_key_can_be_removed(file: Path) -> None:
    assert drop(file, "web.host")
    assert file.read_text() == TEXT.replace("\"host\" = 'a'\n", "")
    assert not drop(file, "web.host")


def test_removing_an_unknown_absent_key_is_an_error(file: Path) -> None:
    with pytest.raises(UnknownKey, match=r"web.prot: unknown key; did you mean web.port\?"):
        drop(file, "web.prot")


SHAPES = (
    "web.port = 1\nweb.host = 'a'\n",
    "[web]\nport = 1\nprices.a.input = 1\n",
    "[agent]\nlow = 1\n\n[web]\nhost = 'x'\n[web.prices.a]\ninput = 1.0\n",
    "web = { port = 1, prices = { a = { input = 1 } } }\n",
    "[web.prices]\na = { input = 1 }\n[agent]\n[web]\non = true\n",
    "[web.prices.a]\ninput = 1\n[agent]\nlow = 1\n[web.prices.b]\ninput = 1\n",
    "# nothing\n",
    "",
)
CHANGES = (
    ("web.port", "7", 7),
    ("web.host", "b", "b"),
    ("web.prices.a.input", "2.5", 2.5),
    ("web.prices.b.input", "3", 3.0),
    ("web.names", "x,y", ["x", "y"]),
    ("agent.low", "2", 2),
)


@given(
    st.sampled_from(SHAPES), st.lists(st.sampled_from(CHANGES) | st.sampled_from(CHANGES).map(lambda c: (*c[:2], None)))
)
def test_change_in_any_layout_affects_only_that_key(
    tmp_path: Path, shape: str, changes: list[tuple[str, str, Any]]
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(shape)
    for key, text, value in changes:
        expected = copy.deepcopy(tomllib.loads(path.read_text()))
        table = expected
        *above, last = key.split(".")
        for part in above:
            table = table.setdefault(part, {})
        if value is None:
            drop(path, key)
            table.pop(last, None)
        else:
            put(path, key, text)
            table[last] = value
        assert editing._without_empty_tables(tomllib.loads(path.read_text())) == editing._without_empty_tables(expected)


def test_removed_key_takes_its_empty_table_but_no_comment(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    put(file, "agent.low", "2")
    put(file, "web.prices.x.input", "3")
    assert drop(file, "web.prices.x.input")
    assert "[web" not in file.read_text()
    for kept in ("[agent]  # dear", "[agent]\n# dear"):
        file.write_text(f"{kept}\nlow = 2\n")
        assert drop(file, "agent.low")
        assert kept in file.read_text()


def test_several_keys_are_changed_at_once_or_not_at_all(file: Path) -> None:
    put(file, "web.host", "a.example")

    def change(texts: Mapping[str, str | None]) -> None:
        editing.set_values(file, texts, sections=SECTIONS, environ={})

    before = file.read_bytes()
    with pytest.raises(ConfigInvalid):
        change({"web.host": None, "web.port": "-1"})
    assert file.read_bytes() == before
    change({"web.host": None, "web.token": None, "web.port": "81", "web.on": "no"})
    web = tomllib.loads(file.read_text())["web"]
    assert ("host" in web, web["port"], web["on"]) == (False, 81, False)
