"""What the guard says to people is said in English and German."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import hob.guard
from hob.core.ids import ApprovalId
from hob.core.ports.guard import Ask
from hob.guard.approvals.question_text import brief, show, subject_of
from hob.guard.policy.modes import ACTS, Act
from hob.guard.policy.rule_names import RULES
from hob.guard.shell.findings import ShellSeverity
from hob.guard.shell.places import ShellPlace
from hob.guard.wording.german import GERMAN
from hob.guard.wording.reasons import GuardReason, because, in_language
from tests.guard.calling import context, verdict
from tests.guard.shell.catalogue import benign, hostile, judge

GUARD = Path(hob.guard.__file__).parent
SAYING = {"ask", "make", "Problem", "problem", "Stuck", "because", "say", "Ask"}


def said_in(tree: ast.AST) -> Iterator[str]:
    """The sentences in calls that ask people, or tell them."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        for argument in node.args if name in SAYING else ():
            for each in ast.walk(argument):
                if isinstance(each, ast.Constant) and isinstance(each.value, str) and " " in each.value:
                    yield each.value


@pytest.mark.parametrize("path", sorted(GUARD.rglob("*.py")), ids=lambda path: str(path.relative_to(GUARD)))
def test_every_sentence_that_asks_is_known_in_german(path: Path) -> None:
    said = set(said_in(ast.parse(path.read_text("utf-8")))) - {" or ", ", ", "it would "}
    assert said <= GERMAN.keys()


def test_every_reason_of_a_command_that_is_asked_about_is_known_in_german() -> None:
    reasons = {
        each.reason.sentence if isinstance(each.reason, GuardReason) else each.reason
        for text in (*(each.text for each in hostile()), *benign())
        for each in judge(text)
        if each.severity is ShellSeverity.ASK
    }
    assert len(reasons) > 50
    assert reasons <= GERMAN.keys()
    assert {place.value for place in ShellPlace} <= GERMAN.keys()


def test_every_act_and_every_rule_that_asks_is_known_in_german() -> None:
    assert {f"it would {ACTS[act]}" for act in Act} <= GERMAN.keys()
    asking = [rule for rule in RULES if rule.startswith(("mode.", "taint.", "group.private", "unconfined.asked"))]
    assert {RULES[rule] for rule in asking} <= GERMAN.keys()


@pytest.mark.parametrize("sentence", sorted(GERMAN))
def test_both_languages_hold_the_same_words(sentence: str) -> None:
    assert sorted(fields(sentence)) == sorted(fields(GERMAN[sentence]))


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_a_reason_is_told_with_what_it_rests_on_in_either_language() -> None:
    tainted = context(tainted=True, heard=("notes.md", because("{name}, not accepted", name="AGENTS.md")))
    asked = verdict("exec", tainted, command="env")
    assert isinstance(asked, Ask)
    assert asked.reason == (
        "it prints the environment, which may hold secrets (environment-dump), and this turn has read what others may "
        "have written (notes.md, AGENTS.md, not accepted)"
    )
    assert in_language(asked.reason, "de") == (
        "es gibt die Umgebung aus, in der Geheimnisse stehen können (environment-dump), und in dieser Runde wurde "
        "gelesen, was andere geschrieben haben können (notes.md, AGENTS.md, nicht akzeptiert)"
    )


def test_braces_in_what_somebody_wrote_are_left_alone() -> None:
    named = because("{path} usually holds keys", path="{why}.{0}")
    assert named == "{why}.{0} usually holds keys"
    assert in_language(named, "de") == "in {why}.{0} stehen gewöhnlich Schlüssel"
    assert in_language("{anything} else", "de") == "{anything} else"


def test_a_question_is_shown_in_german_whole_and_its_subject_is_found() -> None:
    shown = show(
        "write",
        {"path": "a.md", "content": "the file\nan attached file"},
        reason="es ist so",
        requester="local:owner",
        directory="/w",
        diff="--- a\n+++ b\n",
        language="de",
    )
    assert shown.splitlines() == [
        "write braucht deine Erlaubnis: es ist so.",
        "Für local:owner.",
        "In /w.",
        "path:",
        "│ a.md",
        "content (25 Zeichen):",
        "│ the file",
        "│ an attached file",
        "was sich dann änderte:",
        "│ --- a",
        "│ +++ b",
    ]
    assert subject_of(shown) == "a.md"
    id = ApprovalId("a_1")
    assert brief(shown, id, 10_000, "de").endswith("Antworte mit approve:a_1 oder deny:a_1.")
    assert "Zeichen stehen hier nicht" in brief(shown * 100, id, 600, "de")
