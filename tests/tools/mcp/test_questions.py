"""Questions of servers: how people see them, and how answers are parsed."""

import pytest

from hob.tools.mcp.questions import McpQuestion, NotUnderstood

pytestmark = pytest.mark.bubblewrap  # servers run in the sandbox

FORM = {
    "properties": {
        "name": {"type": "string", "description": "Who are you?"},
        "email": {"type": "string", "format": "email"},
        "instruments": {
            "type": "array",
            "items": {"anyOf": [{"const": "Guitar"}, {"const": "Piano"}, {"const": "Drums"}]},
            "default": ["Guitar", "Piano"],
        },
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "sure": {"type": "boolean", "default": False},
    },
    "required": ["name"],
}
ASKED = McpQuestion("band", "About you", FORM)


def test_form_shows_choices_required_fields_and_defaults() -> None:
    _, _, *lines = ASKED.text.splitlines()
    assert lines == [
        "name*: Who are you?",
        "email:",
        "instruments: (with commas between, of: Guitar, Piano, Drums) [Guitar, Piano]",
        "tags: (with commas between, of: a, b)",
        "sure: (yes / no) [no]",
    ]


def test_answer_is_parsed_by_field_and_omitted_fields_take_defaults() -> None:
    assert ASKED.read(["name: Eve\ninstruments: drums, PIANO\nemail: eve@example.org"]) == {
        "name": "Eve",
        "email": "eve@example.org",
        "instruments": ["Drums", "Piano"],
        "sure": False,
    }


def test_earlier_answers_hold_until_overridden() -> None:
    said = ["email: notmail\ntags: a", "name: Eve", "email: eve@example.org"]
    with pytest.raises(NotUnderstood, match="name is missing"):
        ASKED.read(said[:1])
    with pytest.raises(NotUnderstood, match="email must be an e-mail address"):
        ASKED.read(said[:2])
    found = ASKED.read(said)
    assert found is not None
    assert (found["name"], found["email"], found["tags"]) == ("Eve", "eve@example.org", ["a"])


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("name: Eve\nemail: notmail", "email must be an e-mail address"),
        ("name: Eve\ninstruments: Tuba", "instruments must be one of Guitar, Piano, Drums, not 'Tuba'"),
        ("yes", "name is missing"),
    ],
)
def test_invalid_answers_are_explained(answer: str, why: str) -> None:
    with pytest.raises(NotUnderstood, match=why):
        ASKED.read([answer])
