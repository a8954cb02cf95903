"""Setting up speaks German to whoever does, and says the same."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import hob.cli
import hob.cli.onboarding
from hob.cli.onboarding.german import GERMAN, STEPS
from hob.cli.onboarding.report import StepOutcome

FILES = (
    *Path(hob.cli.onboarding.__file__).parent.glob("*.py"),
    Path(hob.cli.__file__).parent / "setup" / "onboard.py",
)
SAYING = {"because", "told", "choose", "read", "read_secret", "tell", "confirm", "StepOutcome", "ModelTrial"}
COMMANDS = ("hob ", "http")


def said_in(tree: ast.AST) -> Iterator[str]:
    """The sentences in calls that ask or tell; values, which are named, apart."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in SAYING:
            named = [each.value for each in node.keywords if each.arg == "told"]
            for argument in (*node.args, *named):
                yield from words_of(argument)
        elif isinstance(node, ast.Assign) and {"told", "question", "advice"} & {
            getattr(each, "id", "") for each in node.targets
        }:
            yield from words_of(node.value)


def words_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*words_of(node.body), *words_of(node.orelse))
    elif isinstance(node, ast.BoolOp):
        for each in node.values:
            yield from words_of(each)
    elif isinstance(node, ast.List | ast.Tuple):
        for each in node.elts:
            yield from words_of(each)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_sentence_is_known_in_german(path: Path) -> None:
    said = {each for each in said_in(ast.parse(path.read_text("utf-8"))) if not each.startswith(COMMANDS)}
    assert said <= GERMAN.keys()


def test_every_german_sentence_is_said_somewhere() -> None:
    text = "".join(path.read_text("utf-8") for path in FILES if path.name != "german.py")
    assert [each for each in GERMAN if each not in text] == []


@pytest.mark.parametrize("sentence", sorted(GERMAN))
def test_both_languages_hold_the_same_words(sentence: str) -> None:
    assert fields(sentence) == fields(GERMAN[sentence])


def fields(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_every_step_has_a_german_name() -> None:
    made = {
        node.args[0].value
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == StepOutcome.__name__
        and isinstance(node.args[0], ast.Constant)
    }
    assert made | {"model"} == STEPS.keys()
