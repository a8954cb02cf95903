"""The examples in the documentation match the results."""

import re
from pathlib import Path

import pytest

from hob.guard.shell.analysis import analyse
from hob.guard.shell.command_context import ShellSeverity, severity
from hob.guard.shell.verdict import judge_command

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "explanation" / "shell-analysis.md").read_text("utf-8")
FOLDER = (DOCS / "how-to" / "let-hob-work-in-a-folder.md").read_text("utf-8")
QUESTION = (DOCS / "how-to" / "answer-questions.md").read_text("utf-8")


def said(text: str) -> ShellSeverity:
    return severity(judge_command(analyse(text), cwd="/w", workspace="/w"))


def examples(row: str) -> list[str]:
    """Return the commands of one table row."""
    (line,) = re.findall(rf"^\| {row} \| .* \| (.*) \|$", PAGE, re.MULTILINE)
    commands = [each.replace(r"\|", "|").replace("…", "x.example") for each in re.findall("`([^`]+)`", line)]
    return [f"cat {each}/x" if each.startswith("~") else each for each in commands]


@pytest.mark.parametrize(
    ("row", "expected"), [("refuse", ShellSeverity.REFUSE), ("ask", ShellSeverity.ASK), ("plain", ShellSeverity.PLAIN)]
)
def test_each_example_is_judged_as_its_row_says(row: str, expected: ShellSeverity) -> None:
    assert [(text, said(text)) for text in examples(row)] == [(text, expected) for text in examples(row)]


def test_documented_command_tree_is_what_an_approval_shows() -> None:
    (block,) = re.findall("```text\n(sudo .*?)```", PAGE, re.DOTALL)
    assert analyse(block.splitlines()[0]).lines() == tuple(block.splitlines())
    assert said(block.splitlines()[0]) is ShellSeverity.ASK


def test_question_in_the_how_to_is_real() -> None:
    *lines, command = [each.removeprefix("│ ") for each in QUESTION.splitlines() if each.startswith("│")]
    (finding,) = judge_command(analyse(command), cwd="/w", workspace="/w")
    assert finding.severity is ShellSeverity.ASK
    assert f"exec needs your approval: {finding.reason}" in QUESTION
    assert analyse(command).lines() == tuple(lines)


def test_commands_naming_key_files_need_approval_as_the_how_to_says() -> None:
    (named,) = re.findall(r"a file that usually holds keys \(`(.+?)`, `(.+?)`, `(.+?)`\)", FOLDER)
    files = (name.replace("*", "tls") for name in named)
    assert [said(f"cat {name}") for name in files] == [ShellSeverity.ASK] * 3
    assert said("cp key.pem x") is ShellSeverity.ASK
    assert said("cat server.pem") is ShellSeverity.PLAIN
