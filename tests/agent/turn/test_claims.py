"""Unbacked claims are found, and harmless replies are left alone."""

import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from hob.agent.turn.claims import find_unbacked
from hob.core.tools import Effect

REPLIES = Path(__file__).parent / "replies"


def replies(name: str) -> Sequence[str]:
    lines = (REPLIES / name).read_text("utf-8").splitlines()
    return [line.replace("\\n", "\n") for line in lines if line and not line.startswith("#")]


def test_at_most_one_in_a_hundred_harmless_replies_counts_as_a_claim() -> None:
    plain = replies("plain.txt")
    wrong = [reply for reply in plain if find_unbacked(reply, "Go on.", ())]
    assert len(plain) >= 300
    assert len(wrong) <= len(plain) // 100, wrong


def test_unbacked_claims_are_found() -> None:
    missed = [reply for reply in replies("claims.txt") if not find_unbacked(reply, "Please do it.", ())]
    assert not missed


@pytest.mark.parametrize(
    ("reply", "effect"),
    [
        ("I've sent the email.", Effect.COMMUNICATES),
        ("Ich habe die Datei gespeichert.", Effect.WRITES),
        ("Deleted.", Effect.EXECUTES),
        ("I've deleted my message in the team chat.", Effect.COMMUNICATES),
        ("I've set a reminder for 8.", Effect.PERSISTS),
    ],
)
def test_tool_with_a_matching_effect_backs_a_claim(reply: str, effect: Effect) -> None:
    assert find_unbacked(reply, "", [frozenset({effect})]) is None
    assert find_unbacked(reply, "", [frozenset({Effect.READS_PRIVATE})]) is not None


@pytest.mark.parametrize(
    "reply",
    [
        "I've scheduled it for Monday.",
        "Ich habe den Termin eingetragen.",
        "I've set a reminder.",
        "Ich habe es für Montag geplant.",
    ],
)
def test_written_file_backs_no_schedule_unless_one_was_meant(reply: str) -> None:
    written = [frozenset({Effect.WRITES})]
    assert find_unbacked(reply, "Remind me on Monday.", written) is not None
    assert find_unbacked(reply, "Put the meeting on Monday into plan.md.", written) is None
    assert find_unbacked(f"{reply[:-1]} in calendar.ics.", "Remind me on Monday.", written) is None


@pytest.mark.parametrize(
    "asked", ["Did you send it?", "Hast du die Mail geschickt?", "Translate: Ich habe es gesendet"]
)
def test_questions_about_the_past_and_requests_for_wording_are_answered_freely(asked: str) -> None:
    assert find_unbacked("I've sent the email.", asked, ()) is None


def test_answer_about_a_reminder_is_no_claim() -> None:
    reply = "Your reminder is scheduled for 9 am."
    assert find_unbacked(reply, "Which reminders do I have?", ()) is None
    assert find_unbacked(reply, "Remind me of the bins at 9.", ()) is not None


@pytest.mark.parametrize(
    ("asked", "reply"),
    [
        ("Where do I eat tonight?", "Your table at Luigi's is booked for 7."),
        ("Any alarms?", "Alarm set for 7."),
        ("Steht der Wecker?", "Der Wecker ist auf 7 Uhr gestellt."),
    ],
)
def test_answer_about_a_booking_or_an_alarm_is_no_claim(asked: str, reply: str) -> None:
    assert find_unbacked(reply, asked, ()) is None
    assert find_unbacked(reply, "Please see to it.", ()) is not None


@pytest.mark.parametrize(
    "reply", ["Your appointment is in your calendar.", "Dein Termin steht im Kalender.", "It's on your calendar."]
)
def test_calendar_entry_is_information_if_a_tool_has_read_or_the_user_asked(reply: str) -> None:
    assert find_unbacked(reply, "Tell me about Tuesday.", [frozenset({Effect.READS_PRIVATE})]) is None
    assert find_unbacked(reply, "Is the dentist in my calendar?", ()) is None
    assert find_unbacked(reply, "Put the dentist into my calendar.", ()) is not None
    assert find_unbacked(reply, "Put the dentist into my calendar.", [frozenset({Effect.PERSISTS})]) is None


@pytest.mark.parametrize(
    ("asked", "reply", "effect"),
    [
        ("Notiere: Milch kaufen", "Notiert!", Effect.WRITES),
        ("Please write that down.", "Noted.", Effect.PERSISTS),
        ("Remind me of the bins at 9.", "I'll remind you at 9.", Effect.PERSISTS),
        ("Erinnere mich morgen an den Müll.", "Alles klar, ich erinnere dich morgen.", Effect.PERSISTS),
    ],
)
def test_note_or_reminder_that_was_asked_for_needs_a_tool(asked: str, reply: str, effect: Effect) -> None:
    assert find_unbacked(reply, asked, ()) is not None
    assert find_unbacked(reply, asked, [frozenset({effect})]) is None
    assert find_unbacked(reply, "I like tea.", ()) is None


@pytest.mark.parametrize(
    "reply",
    [
        "I've sent the email and deleted the draft.",
        "I sent the email, and deleted the file.",
        "Ich habe die Mail gesendet und die Datei gelöscht.",
    ],
)
def test_each_action_of_a_sentence_needs_a_receipt(reply: str) -> None:
    sent, deleted = frozenset({Effect.COMMUNICATES}), frozenset({Effect.WRITES_FINALLY})
    assert find_unbacked(reply, "", [sent]) is not None
    assert find_unbacked(reply, "", [deleted]) is not None
    assert find_unbacked(reply, "", [sent, deleted]) is None


def test_list_of_what_was_done_is_a_report_if_a_tool_has_read_it() -> None:
    listed = "The last commit:\n- Deleted the old file.\n- Added a test."
    assert find_unbacked(listed, "Go on.", [frozenset({Effect.READS_UNTRUSTED})]) is None
    assert find_unbacked(listed, "Please do it.", ()) is not None
    assert find_unbacked("Deleted the old file.", "Please do it.", [frozenset({Effect.READS_UNTRUSTED})]) is not None


@pytest.mark.parametrize(
    "part", ["ok ", "Ich habe jetzt ", "an ", "I have that ", "Bob and ", "your ", "Bob wurde   ", "ok\n", '"', ". "]
)
def test_long_reply_is_searched_in_linear_time(part: str) -> None:
    began = time.process_time()
    find_unbacked(part * (100_000 // len(part)) + "sent", "Go on.", ())
    assert time.process_time() - began < 5


def test_deleted_file_is_not_backed_by_a_message() -> None:
    assert find_unbacked("I've deleted the file.", "", [frozenset({Effect.COMMUNICATES})]) is not None
