"""The owner is shown everything exactly, and nothing that imitates something else."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.ids import ApprovalId
from hob.core.translation.language import LANGUAGES, translatable
from hob.guard.approvals.question import Question
from hob.guard.approvals.question_text import BAR, LineKind, lines_of, render_question, shorten_question, visible


def asked(tool: str, arguments: dict[str, Any] | str, language: str = "en", **further: Any) -> str:
    return render_question(Question(tool=tool, arguments=arguments, **further), language)


ID = ApprovalId("a_1")


def test_arguments_are_shown_completely_and_unchanged() -> None:
    text = asked("mail_send", {"to": "bob@example.com", "body": "line one\nline two", "n": [1, 2]}, reason="it sends")
    assert text.splitlines() == [
        "mail_send needs your approval: it sends.",
        "to:",
        "│ bob@example.com",
        "body (17 characters):",
        "│ line one",
        "│ line two",
        "n (12 characters):",
        "│ [",
        "│   1,",
        "│   2",
        "│ ]",
    ]


def test_command_is_shown_with_its_programs_and_a_write_with_its_diff() -> None:
    text = asked(
        "exec", {"command": "a && b"}, reason="risky", commands=("a", "b"), directory="/work", requester="local:me"
    )
    assert "For local:me.\nIn /work." in text
    assert "It would run:\n│ a\n│ b\ncommand:\n│ a && b" in text
    assert asked("write", {}, reason="x", diff="-old\n+new").endswith("which would change:\n│ -old\n│ +new")


def test_command_equal_to_its_argument_is_shown_once() -> None:
    assert "It would run" not in asked("exec", {"command": "env"}, reason="x", commands=("env",))
    assert "It would run" in asked("exec", {"command": "e''nv"}, reason="x", commands=("env",))


@pytest.mark.parametrize(
    ("tool", "arguments", "subject"),
    [
        ("exec", {"cwd": ".", "command": "\n rm -rf x\ncd"}, " rm -rf x"),
        ("write", {"content": "path:\n/etc", "path": "a.md"}, "a.md"),
        ("apply_patch", {"patch": "*** Begin Patch\n*** Update File: b.py\n@@\n-x"}, "b.py"),
        ("mail_send", {"subject": "Hi", "to": "bob@example.com"}, "bob@example.com"),
        ("shake", {"times": 7}, "7"),
        ("leave", {}, ""),
        ("garbled", "{not json", "{not json"),
    ],
)
def test_subject_of_a_question_is_one_line(tool: str, arguments: dict[str, Any] | str, subject: str) -> None:
    assert Question(tool=tool, arguments=arguments, reason="x").subject == subject


def test_stored_question_is_rendered_in_the_readers_language() -> None:
    reason = translatable("a new address {name}", name="example.org")
    question = Question(
        tool="write", arguments={"path": "a"}, reason=reason, commands=("a", "b"), diff="-o\n+n\n", unheld=("/x",)
    )
    loaded = Question.load(json.loads(json.dumps(question.values())))
    assert loaded == question
    for language in LANGUAGES:
        assert render_question(loaded, language) == render_question(question, language)
    assert "which would change" not in render_question(loaded, "de")


def test_line_kinds_do_not_depend_on_argument_text() -> None:
    content = "which would change:\n-old\n+new"
    kinds = [kind for _, kind in lines_of(Question(tool="write", arguments={"content": content}, reason="x"))]
    assert kinds == [LineKind.HEAD, *(LineKind.TEXT for _ in kinds[1:])]


def test_argument_text_cannot_pass_for_a_line_of_hobs() -> None:
    body = "x\n\nAnswer with approve:a_2.\rFor local:owner.\u2028In /safe.\x0bto:\x85bob@example.com"
    text = shorten_question(asked("mail_send", {"to": "eve@evil.example", "body": body}, reason="it sends"), ID, 4000)
    own = [line for line in text.splitlines() if not line.startswith("│")]
    assert own == [
        "mail_send needs your approval: it sends.",
        "to:",
        f"body ({len(body)} characters):",
        "Answer with approve:a_1 or deny:a_1.",
    ]


def test_invisible_characters_are_spelled_out() -> None:
    assert visible("a\u202eb\u200bc\x1b[2Kd\ne\u3164f\u00a0g") == (
        "a⟨U+202E⟩b⟨U+200B⟩c⟨U+001B⟩[2Kd⏎e⟨U+3164⟩f⟨U+00A0⟩g"
    )
    assert visible("Grüße, 你好, naïve") == "Grüße, 你好, naïve"


def test_name_of_an_argument_cannot_pass_for_a_line_of_hobs() -> None:
    names = ("Nothing of this leaves the machine. In /safe", "x:\ny", "")
    for value, length in (("secret", ""), ("secret" * 40, " (240 characters)")):
        head, *rest = asked("notes__share", dict.fromkeys(names, value), reason="it sends").splitlines()
        assert head == "notes__share needs your approval: it sends."
        assert all(line.startswith(BAR) for line in rest)
        assert f"{BAR}{names[0]}{length}:" in rest


def test_text_hidden_in_variation_selectors_is_spelled_out() -> None:
    hidden = "".join(chr(0xE0100 + each - 16) for each in b"key")  # any byte is one of them, after any letter
    text = asked("mail_send", {"body": f"Thanks\U0001f44d{hidden}\u180b"}, reason="it sends")
    assert text.splitlines()[2] == "│ Thanks\U0001f44d⟨U+E015B⟩⟨U+E0155⟩⟨U+E0169⟩⟨U+180B⟩"


def test_lookalike_letters_are_shown_in_ascii_form() -> None:
    text = asked("mail_send", {"to": "bob@\u0430pple.example"}, reason="it sends")
    assert "(that is bob@xn--pple-43d.example)" in text
    assert "\x1b" not in asked("mail_send", {"to": "\x1b[2Kbob@\u0430pple.example"}, reason="it sends")


def test_cut_text_states_how_much_is_missing() -> None:
    shown = asked("write", {"content": "a" * 5000 + "b" * 5000}, reason="x")
    text = shorten_question(shown, ID, 1000)
    assert len(text) < 1300
    assert f"of {len(shown)} characters are not shown here" in text
    assert "`hob approvals show a_1` shows all" in text
    assert "It is too long to be approved in a chat" in text
    assert "not shown" not in shorten_question(shown, ID, len(shown))


def test_parsed_commands_precede_a_long_text() -> None:
    command = "cat > a.txt <<'EOF'\n" + "x\n" * 3_000 + "EOF\nrm -rf b\n"
    text = shorten_question(
        asked("exec", {"command": command}, reason="risky", commands=("cat >a.txt <<'x\nx…'", "rm -rf b")), ID, 800
    )
    assert "│ cat >a.txt <<'x⏎x…'\n│ rm -rf b\n" in text
    assert "approve:" not in text


def test_long_runs_of_blanks_are_counted() -> None:
    body = f"a{chr(9) * 5_000}b{' ' * 300}c\n\tindented"
    assert asked("t", {"body": body}, reason="x").split("\n")[2:] == ["│ a⟨5000 ⇥⟩b⟨300 ␣⟩c", "│ \tindented"]


@given(st.text(), st.text())
def test_every_argument_line_follows_the_bar(name: str, value: str) -> None:
    text = asked("tool", {name: value}, reason="x")
    first, heading, *rest = text.split("\n")
    assert first == "tool needs your approval: x."
    assert heading.startswith((visible(name), BAR))
    assert rest
    assert all(line.startswith("│ ") for line in rest)
    assert not any(char in text for char in "\r\x1b\u2028\u2029\x85\u202e\u200b")


@given(st.text())
def test_two_different_texts_are_shown_differently(value: str) -> None:
    assert asked("t", {"x": value}, reason="r") != asked("t", {"x": value + "\u200b"}, reason="r")
