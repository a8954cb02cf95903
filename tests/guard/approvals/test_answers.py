"""The syntax of answers, who may give them, and which question they answer."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from hob.core.ids import ApprovalId, CallId, SessionKey, TurnId
from hob.core.messages import Address, Inbound, Quoted, Sender
from hob.core.trust.labels import Label, Origin, SenderClass, Trust
from hob.guard.approvals.answers import ApprovalReply, ApprovalScope, choose_question, may_answer, parse_answer
from hob.store.approvals import Approval
from hob.testing.channel import message


def asked(id: str = "a_1", at: float = 100.0) -> Approval:
    return Approval(
        ApprovalId(id),
        TurnId("t"),
        CallId("c"),
        "exec",
        "h",
        SessionKey("s"),
        "why",
        at,
        at + 60,
        "exec needs your approval",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("approve:a_7f3k9q2x", ApprovalReply(True, ApprovalId("a_7f3k9q2x"))),
        ("  Approve: A_7F3K9Q2X\n", ApprovalReply(True, ApprovalId("a_7f3k9q2x"))),
        ("/approve a_7f3k9q2x session", ApprovalReply(True, ApprovalId("a_7f3k9q2x"), ApprovalScope.SESSION)),
        ("allow a_7f3k9q2x always.", ApprovalReply(True, ApprovalId("a_7f3k9q2x"), ApprovalScope.ALWAYS)),
        ("deny:a_7f3k9q2x", ApprovalReply(False, ApprovalId("a_7f3k9q2x"))),
        ("approve:a_oil", ApprovalReply(True, ApprovalId("a_011"))),  # if somebody misreads 0 and 1
        ("yes", ApprovalReply(True)),
        ("Ja!", ApprovalReply(True)),
        ("no.", ApprovalReply(False)),
        ("Nein", ApprovalReply(False)),
    ],
)
def test_answer_must_be_the_whole_message(text: str, expected: ApprovalReply) -> None:
    assert parse_answer(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "sure",
        "fine",
        "\N{THUMBS UP SIGN}",
        "y",
        "yes please do it",
        "yes, but not that one",
        "oh no",
        "yes\u200b",
        "ye\u0455",  # a Cyrillic s
        "please approve:a_7f3k9q2x",
        "approve: the plan, and then go on",
        "approve:a_7f3k9q2x\nand another line",
        "allow me to say",
        "deny approve:a_7f3k9q2x",
        "> approve:a_7f3k9q2x",
        "",
    ],
)
def test_ambiguous_word_is_not_an_answer(text: str) -> None:
    assert parse_answer(text) is None


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("approve:zzz", "zzz"),
        ("Deny: zzz", "zzz"),
        ("/approve zzz", "zzz"),
        ("/deny", ""),
        ("approve:", ""),
        ("approve:t_7f3k9q2x", "t_7f3k9q2x"),
        ("approve:a_7f3k9q2x forever", "a_7f3k9q2x forever"),
        ("approve:a_7f3k9q2x deny:a_7f3k9q2y", "a_7f3k9q2x deny:a_7f3k9q2y"),
        ("approve:a_" + "x" * 100, "a_" + "x" * 100),
    ],
)
def test_answer_without_a_valid_id_answers_no_question(text: str, typed: str) -> None:
    answer = parse_answer(text)
    assert answer is not None
    assert (answer.typed, answer.id, answer.scope) == (typed, typed, ApprovalScope.ONCE)


def test_id_is_kept_as_typed() -> None:
    answer = parse_answer("approve:a_nope")
    assert answer is not None
    assert (answer.id, answer.typed) == ("a_n0pe", "a_nope")


def from_owner(text: str = "yes", channel: str = "telegram", **more: Any) -> Inbound:
    return replace(message(text, channel=channel), **more)


@pytest.mark.parametrize("channel", ["local", "api", "telegram", "signal"])
def test_owner_can_answer_on_authenticated_channels(channel: str) -> None:
    assert may_answer(from_owner(channel=channel)) == ""


@pytest.mark.parametrize(
    "inbound",
    [
        *(from_owner(channel=channel) for channel in ("mail", "sms", "webhook", "irc", "")),
        from_owner(sender=Sender("m", cls=SenderClass.MEMBER)),
        from_owner(sender=Sender("s", cls=SenderClass.STRANGER)),
        from_owner(label=Label(Origin.STDIN, Trust.UNTRUSTED)),
        from_owner(label=Label(Origin.CLIENT, Trust.TRUSTED)),
        from_owner(hops=1),
        from_owner(background=True),
    ],
)
def test_only_the_owner_can_answer(inbound: Inbound) -> None:
    assert may_answer(inbound)


def test_custom_channel_can_be_declared_authenticated_but_mail_cannot() -> None:
    assert may_answer(from_owner(channel="irc"), ["irc"]) == ""
    assert may_answer(from_owner(channel="mail"), ["mail"])
    assert may_answer(from_owner(channel="api"), scoped=True)


def test_bare_word_answers_the_only_open_question_of_a_direct_chat() -> None:
    assert choose_question(ApprovalReply(True), from_owner(), [asked()]) == "a_1"


@pytest.mark.parametrize(
    ("inbound", "waiting", "in_doubt"),
    [
        (from_owner(), [], False),
        (from_owner(), [asked("a_1"), asked("a_2")], False),
        (from_owner(), [asked()], True),
        (from_owner(group=True), [asked()], False),
        (from_owner(quoted=(Quoted("yes"),)), [asked()], False),
        # written before the question was asked
        (from_owner(sent_at=datetime.fromtimestamp(99, UTC)), [asked()], False),
    ],
)
def test_ambiguous_bare_word_answers_nothing(inbound: Inbound, waiting: list[Approval], in_doubt: bool) -> None:
    assert choose_question(ApprovalReply(True), inbound, waiting, in_doubt=in_doubt) is None


def test_id_selects_the_question_anywhere() -> None:
    group = from_owner(group=True, origin=Address("telegram", "group"))
    assert choose_question(ApprovalReply(True, ApprovalId("a_2")), group, [asked("a_1"), asked("a_2")]) == "a_2"
