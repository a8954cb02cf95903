"""Patterns cannot be made slow by any text."""

import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from hob.core.content import user_text
from hob.core.screening import credentials, numbers, personal
from hob.core.screening.detectors import find_sensitive
from hob.core.screening.kinds import SensitiveKind
from hob.core.screening.patterns import MAX_STEPS, compile_pattern, compile_words, count_steps
from hob.guard.screening.model_calls import prompt_guard, sanitizer

MODULES = (sanitizer, credentials, numbers, personal, prompt_guard, user_text)


def patterns_in(value: object) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple):
        for inner in value:
            yield from patterns_in(inner)
    elif isinstance(value, type) and value.__module__ == sanitizer.__name__:
        for inner in vars(value).values():
            yield from patterns_in(inner)


def own_patterns() -> list[str]:
    found = {each.pattern for module in MODULES for value in vars(module).values() for each in patterns_in(value)}
    keys = {shape for _, shape in credentials._KEYS}  # compiled on first use
    names = {credentials._BEARER, credentials._BASIC, credentials._PASSWORD, credentials._PROSE, credentials._SECRET}
    return sorted(found | keys | names)


def test_all_own_patterns_are_checked() -> None:
    assert len(own_patterns()) > 60


@pytest.mark.parametrize("pattern", own_patterns())
def test_own_patterns_need_few_steps_for_any_text(pattern: str) -> None:
    assert count_steps(pattern) <= MAX_STEPS


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "a*a*b", r"(\w+\s?)*$", "(a{1,99}){1,99}b", ".*x.*y", r"(a)\1", "(?x) a b", "(?(1)a|b)", "a*b"],
)  # fmt: skip
def test_potentially_slow_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", ["", "x?", "(", "a{2,1}", "[", "x" * 2000])
def test_invalid_or_empty_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"EMP-\d{6}", "EMP-123456"),
        (r"\bProjekt [A-Z]\w{2,20}\b", "Projekt Adler"),
        (r"(?i)(patient|kunde)[- ]?(nr|nummer)[.: ]{0,3}\d{4,10}", "Kunden-Nr. und KUNDE-NR: 12345"),
        (r"[\]a-c\\]{2,5}x", "]a\\x"),
        (r"case-\d+", "case-1"),
        ("a{2}b{,3}c", "aabc"),
        (r"(?<!x)y(?!z)", "y"),
    ],
)
def test_ordinary_pattern_is_accepted(pattern: str, text: str) -> None:
    assert compile_pattern(pattern).search(text)


def test_words_match_as_whole_words_in_any_case() -> None:
    words = compile_words(["Project X", "geheim"])
    assert words is not None
    assert words.search("the PROJECT   x plan")
    assert words.search("Das ist geheim.")
    assert words.search("geheimnis") is None


HOSTILE = [
    "@", "a@", "a@b.", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAA", "password=", "password: ",
    "key=", "key=a1b2", "token", "sk-", "eyJ", "eyJ.", "1", "1 ", "4111 ", "0171 ", "+49", "(0", "://a:", "://a:b@",
    "DE89", "DE89 3704 ", "2a00:", "1.", "bearer ", "[EMAIL-", "secret_", "AKIA", "-", "\u0130", "tel ",
    "pin", "pin is 4711 ", "curl -u a:b", "mysql -p",
]  # fmt: skip


def steps_of(text: str) -> int:
    """Count executed lines of Python; the steps within a pattern are bounded above."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        find_sensitive(text, frozenset(SensitiveKind))
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("unit", HOSTILE)
def test_work_is_linear_in_the_text(unit: str) -> None:
    size = 4_000 // len(unit)
    find_sensitive(unit * size, frozenset(SensitiveKind))  # compiles the patterns
    assert steps_of(unit * size * 2) <= 2.2 * steps_of(unit * size) + 400
