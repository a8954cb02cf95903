"""Every key tomllib finds has a position in the text, and the key is there."""

import random
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hob.config.positions import KeyPath, PositionScanner, dotted, find_positions, parse_key

BARE = "abcXYZ019_-"
ODD = "a.\"'\\# =[]{}é😀\t"


def paths_in(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in items:
        yield (*path, key)
        yield from paths_in(each, (*path, key))


def offset_of(text: str, position: tuple[int, int]) -> int:
    line, column = position
    return sum(len(each) + 1 for each in text.split("\n")[: line - 1]) + column - 1


def key_at(text: str, position: tuple[int, int]) -> str:
    scanner = PositionScanner(text)
    scanner.at = offset_of(text, position)
    return scanner.key()[0][0]


class Writer:
    """Writes tables as TOML in all possible ways, chosen at random."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.lines: list[str] = []

    def key(self, key: str) -> str:
        ways = [self.basic(key)]
        if key and set(key) <= set(BARE):
            ways += [key, key]
        if not set(key) & set("'\n"):
            ways.append(f"'{key}'")
        return self.chance.choice(ways)

    def basic(self, text: str) -> str:
        escaped = text.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(f"\\u{ord(c):04x}" if c == "é" else "\\t" if c == "\t" else c for c in escaped) + '"'

    def blank(self) -> str:
        return self.chance.choice(["", " ", "\t "])

    def lines_between(self) -> str:
        return self.chance.choice(["", " ", "\n", " # ] } x = 1\n", "\n\t"])

    def scalar(self, text: str) -> str:
        quoted = self.basic(text)
        return self.chance.choice(
            [
                quoted,
                f'"""\n[a]\nb = "" {quoted[1:-1]}"""',
                "'''\n[x]\ny = 1 '''''",
                "1979-05-27 07:32:00",
                "-1_0e3",
                "true",
            ]
        )

    def value(self, value: Any) -> str:
        if isinstance(value, str):
            return self.scalar(value)
        if isinstance(value, list):
            inner = ",".join(self.lines_between() + self.value(each) + self.lines_between() for each in value)
            comma = self.chance.choice(["", ","]) if value else ""
            return f"[{inner}{comma}{self.lines_between()}]"
        inner = ",".join(
            f" {self.key(key)}{self.blank()}={self.blank()}{self.value(each)} " for key, each in value.items()
        )
        return "{" + inner + "}"

    def table(self, table: dict[str, Any], above: tuple[str, ...]) -> None:
        later = []
        for key, value in table.items():
            tables = isinstance(value, list) and value and all(isinstance(each, dict) for each in value)
            if (isinstance(value, dict) or tables) and self.chance.random() < 0.6:
                later.append((key, value))
            elif isinstance(value, dict) and value and self.chance.random() < 0.5:
                for inner, each in value.items():
                    self.pair(f"{self.key(key)}{self.blank()}.{self.blank()}{self.key(inner)}", each)
            else:
                self.pair(self.key(key), value)
        for key, value in later:
            for each in [value] if isinstance(value, dict) else value:
                brackets = ("[", "]") if isinstance(value, dict) else ("[[", "]]")
                name = f"{self.blank()}.".join(self.key(part) for part in (*above, key))
                self.lines.append(f"{self.blank()}{brackets[0]}{self.blank()}{name}{self.blank()}{brackets[1]} # [no]")
                self.table(each, (*above, key))

    def pair(self, key: str, value: Any) -> None:
        note = self.chance.choice(["", "  # a = 1", "\r"])
        self.lines.append(f"{self.blank()}{key}{self.blank()}={self.blank()}{self.value(value)}{note}")


def write(table: dict[str, Any], seed: int) -> str:
    writer = Writer(random.Random(seed))
    writer.table(table, ())
    return "\n".join(writer.lines) + "\n"


def numbered(value: Any, counter: Iterator[int]) -> Any:
    """Give every key its own number, so that a position with the right text is the right position."""
    if isinstance(value, dict):
        return {f"{key}{next(counter)}": numbered(each, counter) for key, each in value.items()}
    return [numbered(each, counter) for each in value] if isinstance(value, list) else value


keys = st.text(BARE, max_size=3) | st.text(ODD, max_size=4)
values = st.recursive(
    st.text(ODD, max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(keys, values, max_size=4), st.integers())
def test_every_key_has_its_true_position(table: dict[str, Any], seed: int) -> None:
    text = write(numbered(table, iter(range(10_000))), seed).replace("\r\n", "\n")
    parsed = tomllib.loads(text)
    found = find_positions(text)
    assert set(found) == set(paths_in(parsed))
    for path in found:
        if isinstance(path[-1], str):
            assert key_at(text, found[path]) == path[-1]


@given(st.lists(st.sampled_from(["a", "b", ".", "=", "1", '"', "'", "[", "]", "{", "}", "\n", "#", ",", " ", "\\"])))
@example(list("a=[[1],{b=''}]"))
@example(list('""=1'))
@example(list("[[a]]\n[[a.b]]\n[[a]]"))
def test_scanner_handles_every_document_tomllib_accepts(pieces: list[str]) -> None:
    text = "".join(pieces)
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(find_positions(text)) == set(paths_in(parsed))


def test_columns_count_characters_from_one() -> None:
    assert find_positions('\n[a]\n  "é" . b = 1\n')[("a", "é", "b")] == (3, 9)


def test_tables_of_an_array_have_separate_positions() -> None:
    found = find_positions("[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3\n")
    assert found[("a", 0, "b")] == (2, 1)
    assert found[("a", 1, "b")] == (4, 1)
    assert found[("a", 1, "c", "d")] == (6, 1)


def test_extreme_nesting_loses_positions_without_a_crash() -> None:
    find_positions("a = 1\nb = " + "[" * 100_000 + "]" * 100_000)


@given(st.lists(st.text(min_size=0), min_size=1))
def test_dotted_key_round_trips(parts: list[str]) -> None:
    assert parse_key(dotted(tuple(parts))) == tuple(parts)


@pytest.mark.parametrize("text", ["", "a.", ".a", "a..b", "a b", '"a', "'a", 'a."', '"\\q"', "a=1", '"\\u12"'])
def test_malformed_key_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_key(text)
