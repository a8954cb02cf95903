"""Tool calls on the screen."""

import pytest

from hob.cli.chat.rendering.fragments import text_of
from hob.cli.chat.rendering.tool_calls import RunningCall, brief_arguments


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ('{"command": "ls\\n  -la"}', "ls ⏎ -la"),
        ('{"path": "a.txt", "lines": 3}', "path=a.txt, lines=3"),
        ("{}", ""),
        ("[1]", ""),
        ('{"text": "cut he', '{"text": "cut he'),
        ('{"command": "\\u001b[2J"}', "·[2J"),
    ],
)
def test_call_arguments_are_shown_on_one_line(arguments: str, shown: str) -> None:
    assert brief_arguments(arguments) == shown


def test_call_shows_the_end_of_its_output_and_counts_hidden_lines() -> None:
    call = RunningCall("exec", '{"command": "seq 20"}')
    for n in range(20):
        call.write(f"{n}\n")
    rows = text_of(call.ended("ok", 79, "en")).split("\n")
    assert rows[0] == "✓ exec: seq 20"
    assert rows[1:] == ["  … 12 more lines", *(f"  {n}" for n in range(12, 20))]


def test_failed_call_shows_its_outcome_without_control_characters() -> None:
    call = RunningCall("exec", "{}")
    call.write("\x1b[2Jx\r\n")
    rows = text_of(call.ended("timeout", 79, "en")).split("\n")
    assert rows == ["✗ exec  no result in time", "  \ufffd[2Jx"]


def test_line_of_output_is_no_wider_than_the_terminal() -> None:
    call = RunningCall("exec", '{"command": "' + "y" * 300 + '"}')
    call.write("x" * 200)
    assert max(map(len, text_of(call.preview(40)).split("\n"))) <= 40
