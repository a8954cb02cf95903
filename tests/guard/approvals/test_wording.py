"""The guard's messages exist in English and German."""

from hob.core.ids import ApprovalId
from hob.core.ports.guard import Ask
from hob.core.translation.language import Translatable, translatable, translate, translated
from hob.guard.approvals.question import Question
from hob.guard.approvals.question_text import render_question, shorten_question
from hob.guard.shell.command_context import ShellSeverity
from tests.guard.calling import context, verdict
from tests.guard.shell.catalogue import benign, hostile, judge


def test_every_reason_for_asking_or_refusing_has_a_german_translation() -> None:
    reasons = {
        each.reason.message if isinstance(each.reason, Translatable) else each.reason
        for text in (*(each.text for each in hostile()), *benign())
        for each in judge(text)
        if each.severity in (ShellSeverity.ASK, ShellSeverity.REFUSE)
    }
    assert len(reasons) > 80
    known = {message for message in reasons if translate(message, "de") != message}
    assert reasons <= known


def test_reason_includes_its_source_in_both_languages() -> None:
    sources = ("notes.md", translatable("{name} (not accepted; `hob accept` makes it yours)", name="AGENTS.md"))
    tainted = context(tainted=True, untrusted_sources=sources)
    asked = verdict("exec", tainted, command="env")
    assert isinstance(asked, Ask)
    assert asked.reason == (
        "it prints the environment, which may hold secrets (environment-dump), and this conversation holds "
        "text that is not yours: notes.md, AGENTS.md (not accepted; `hob accept` makes it yours)"
    )
    assert translated(asked.reason, "de") == (
        "es gibt die Umgebung aus, in der Geheimnisse stehen können (environment-dump), und in dieser "
        "Unterhaltung steht Text, der nicht von dir ist: notes.md, "
        "AGENTS.md (nicht angenommen; `hob accept` macht sie zu deiner)"
    )


def test_braces_in_user_text_are_left_alone() -> None:
    named = translatable("{path} usually holds keys", path="{why}.{0}")
    assert named == "{why}.{0} usually holds keys"
    assert translated(named, "de") == "in {why}.{0} stehen gewöhnlich Schlüssel"
    assert translated("{anything} else", "de") == "{anything} else"


def test_whole_question_is_shown_in_german() -> None:
    question = Question(
        tool="write",
        arguments={"path": "a.md", "content": "the file\nan attached file"},
        reason="es ist so",
        requester="telegram:bob",
        directory="/w",
        diff="--- a\n+++ b\n",
    )
    shown = render_question(question, "de")
    assert shown.splitlines() == [
        "write braucht deine Freigabe: es ist so.",
        "Für telegram:bob.",
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
    id = ApprovalId("a_1")
    assert shorten_question(shown, id, 10_000, "de").endswith("Antworte mit approve:a_1 oder deny:a_1.")
    assert "Zeichen stehen hier nicht" in shorten_question(shown * 100, id, 600, "de")
