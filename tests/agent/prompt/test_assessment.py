"""What kind of work a message asks for."""

import pytest

from hob.agent.prompt.assessment import LINES, WorkKind, assess


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How should I store the password hashes of our users?", WorkKind.SECURITY),
        ("Ist die Verschlüsselung meiner Sicherung gut genug?", WorkKind.SECURITY),
        ("Give me ideas for a birthday party with eight children", WorkKind.CREATIVE),
        ("Schreib mir ein Gedicht über den Herbst am Meer", WorkKind.CREATIVE),
        ("Plan the migration of our service to another database", WorkKind.ARCHITECTURE),
        ("Welche Architektur passt zu einem Dienst mit drei Teams?", WorkKind.ARCHITECTURE),
        ("The build fails with a traceback since yesterday", WorkKind.BUG_FIX),
        ("Der Drucker ist kaputt, was kann ich tun?", WorkKind.BUG_FIX),
        ("What time is it?", WorkKind.QUICK_ANSWER),
        ("Wie hoch ist der Eiffelturm?", WorkKind.QUICK_ANSWER),
        ("Please read through these notes and tell me what we agreed on last week", WorkKind.GENERAL),
        ("", WorkKind.GENERAL),
    ],
)
def test_messages_are_classified(text: str, kind: WorkKind) -> None:
    assert assess(text) is kind


@pytest.mark.parametrize("text", ["The monkey met the author of a book about planets in the old town", "hockey"])
def test_parts_inside_words_do_not_match(text: str) -> None:
    assert assess(text) in {WorkKind.GENERAL, WorkKind.QUICK_ANSWER}


def test_every_kind_has_at_most_one_line() -> None:
    assert set(LINES) == set(WorkKind)
    assert all("\n" not in line for line in LINES.values())
