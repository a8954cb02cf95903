"""What a channel cannot reaches people in the nearest form that it can; nothing of it is lost in silence."""

from dataclasses import replace

import pytest

from hob.core.content.capabilities import TEXT_ONLY, Capabilities
from hob.core.content.fallbacks import apply_fallbacks, parse_options, resolve_choice
from hob.core.errors import SendFailed
from hob.core.ids import OutboxId, new_trace_id
from hob.core.messages import Address, Attachment, Button, Outbound, OutboundAction, OutboundKind

PLAIN_TEXT = Outbound(OutboxId("o"), Address("sms", "1"), "Which?", OutboundKind.REPLY, None, new_trace_id())
RICH = replace(PLAIN_TEXT, buttons=(Button("Tea", "tea"), Button("Coffee", "c")), about="m1")
EVERYTHING = Capabilities(replies=True, edits=True, deletes=True, reactions=True, polls=True, buttons=8, files=4)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (PLAIN_TEXT, "Which?"),
        (RICH, "Which?\n1. Tea\n2. Coffee"),
        (replace(RICH, spelled=True), "Which?"),
        (replace(PLAIN_TEXT, poll=("Tea", "Coffee")), "Which?\n1. Tea\n2. Coffee"),
        (replace(PLAIN_TEXT, attachments=(Attachment("text/plain", "a.txt"),)), "Which?\n[a.txt]"),
        (replace(PLAIN_TEXT, text="", attachments=(Attachment("image/png", link="http://x"),)), "[image/png] http://x"),
        (replace(PLAIN_TEXT, action=OutboundAction.EDIT, about="m1"), "✎ Which?"),
        (replace(PLAIN_TEXT, action=OutboundAction.REACT, about="m1", text="👍"), "👍"),
    ],
)
def test_text_only_channel_gets_plain_text(message: Outbound, said: str) -> None:
    plain = apply_fallbacks(message, TEXT_ONLY)
    assert plain == replace(PLAIN_TEXT, text=said, spelled=message.spelled)


def test_channel_with_all_capabilities_gets_the_message_unchanged() -> None:
    rich = replace(RICH, attachments=(Attachment("text/plain", "a.txt"),), poll=("a", "b"))
    assert apply_fallbacks(rich, EVERYTHING) is rich
    for action in OutboundAction:
        assert apply_fallbacks(replace(RICH, action=action), EVERYTHING).action is action


def test_buttons_or_files_that_do_not_fit_become_lines() -> None:
    files = (Attachment("text/plain", "a.txt"), Attachment("text/plain", "b.txt"))
    plain = apply_fallbacks(replace(RICH, attachments=files), replace(EVERYTHING, buttons=1, files=1))
    assert plain.text == "Which?\n[b.txt]\n1. Tea\n2. Coffee"
    assert (plain.buttons, plain.attachments) == ((), files[:1])


def test_delete_without_support_fails_permanently() -> None:
    with pytest.raises(SendFailed, match="cannot be deleted on sms") as failed:
        apply_fallbacks(replace(PLAIN_TEXT, action=OutboundAction.DELETE), TEXT_ONLY)
    assert failed.value.permanent


@pytest.mark.parametrize(
    ("question", "options"),
    [
        ("Which?\n1. Tea\n2. Coffee", ("Tea", "Coffee")),
        ("Which?", ()),
        ("1. Tea", ("Tea",)),
        ("Steps:\n1. boil\n2. pour\nGo on?", ()),
        ("Which?\n2. Tea\n3. Coffee", ()),
        ("Which?\n1. Tea\n3. Coffee", ()),
    ],
)
def test_options_are_the_numbered_lines_at_the_end(question: str, options: tuple[str, ...]) -> None:
    assert parse_options(question) == options


@pytest.mark.parametrize(("answer", "meant"), [("2", "Coffee"), (" 1. ", "Tea"), ("tea please", "tea please")])
def test_number_means_its_option_and_words_mean_themselves(answer: str, meant: str) -> None:
    assert resolve_choice("Which?\n1. Tea\n2. Coffee", answer) == meant


@pytest.mark.parametrize("answer", ["3", "0", "7."])
def test_number_without_an_option_is_reported_as_such(answer: str) -> None:
    assert resolve_choice("Which?\n1. Tea\n2. Coffee", answer) == (
        f"{answer} (the user's own words, and no option: these have the numbers 1 to 2)"
    )
    assert resolve_choice("How many?", answer) == answer
