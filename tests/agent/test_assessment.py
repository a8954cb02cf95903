"""What kind of work a message asks for."""

import pytest

from hob.agent.assessment import LINES, Kind, assess


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("How should I store the password hashes of our users?", Kind.SECURITY),
        ("Ist die Verschlüsselung meiner Sicherung gut genug?", Kind.SECURITY),
        ("Give me ideas for a birthday party with eight children", Kind.CREATIVE),
        ("Schreib mir ein Gedicht über den Herbst am Meer", Kind.CREATIVE),
        ("Plan the migration of our service to another database", Kind.ARCHITECTURE),
        ("Welche Architektur passt zu einem Dienst mit drei Teams?", Kind.ARCHITECTURE),
        ("The build fails with a traceback since yesterday", Kind.BUG_FIX),
        ("Der Drucker ist kaputt, was kann ich tun?", Kind.BUG_FIX),
        ("What time is it?", Kind.QUICK_ANSWER),
        ("Wie hoch ist der Eiffelturm?", Kind.QUICK_ANSWER),
        ("Please read through these notes and tell me what we agreed on last week", Kind.GENERAL),
        ("", Kind.GENERAL),
    ],
)
def test_messages_are_told_apart(text: str, kind: Kind) -> None:
    assert assess(text) is kind


@pytest.mark.parametrize("text", ["The monkey met the author of a book about planets in the old town", "hockey"])
def test_words_inside_of_words_mean_nothing(text: str) -> None:
    assert assess(text) in {Kind.GENERAL, Kind.QUICK_ANSWER}


def test_every_kind_has_at_most_one_line() -> None:
    assert set(LINES) == set(Kind)
    assert all("\n" not in line for line in LINES.values())
