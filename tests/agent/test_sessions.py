"""Which session a message belongs to, and when a session is reset."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.agent.sessions import is_group, is_subagent, named_key, reset_due, session_of, thread_session
from hob.agent.settings import AgentSettings
from hob.app.subagents.sessions import child_key
from hob.core.ids import InboundId, SessionKey, TraceId
from hob.core.messages import Address, Inbound, Sender
from hob.core.trust.labels import OWNER_LABEL, SenderClass
from hob.core.turns import Session


def message(channel: str, chat: str, thread: str = "", account: str = "", *, group: bool = False) -> Inbound:
    origin = Address(channel, chat, account, thread)
    return Inbound(InboundId("m"), "k", origin, Sender("s"), "hi", OWNER_LABEL, TraceId("t"), group=group)


@pytest.mark.parametrize(
    ("inbound", "key"),
    [
        (message("local", "main"), "local:main"),
        (message("api", ""), "api:main"),
        (message("api", "work"), "api:work"),
        (message("telegram", "42"), "telegram:42"),
        (message("telegram", "42", "7"), "telegram:42:7"),
        (message("telegram", "-100", "7", group=True), "telegram:group:-100:7"),
        (message("signal", "+49", account="home"), "signal@home:+49"),
    ],
)
def test_session_is_chosen_by_the_address(inbound: Inbound, key: str) -> None:
    assert session_of(inbound) == key


part = st.text(alphabet=":/@%abgroup#", max_size=7)


@given(st.lists(st.tuples(part, part.filter(bool), part, part, st.booleans()), min_size=2, max_size=2, unique=True))
def test_no_two_conversations_share_a_key(pair: list[tuple[str, str, str, str, bool]]) -> None:
    keys = {
        session_of(message("x" + name, chat, thread, account, group=group))
        for name, chat, thread, account, group in pair
    }
    assert len(keys) == 2


@given(part, part, st.booleans())
def test_group_key_is_recognised(chat: str, thread: str, group: bool) -> None:
    inbound = message("x", chat, thread, group=group)
    assert is_group(session_of(inbound)) is group
    assert is_group(thread_session(inbound, "other")) is group


def test_named_threads_have_their_own_sessions() -> None:
    assert thread_session(message("local", "main"), "Tax 2026!") == "local:tax-2026"
    assert thread_session(message("telegram", "42"), "Tax 2026!") == "telegram:42/tax-2026"
    assert thread_session(message("telegram", "42"), "!!") == "telegram:42"


@pytest.mark.parametrize(("cls", "key"), [(SenderClass.MEMBER, "api:@anna/main"), (SenderClass.OWNER, "api:main")])
def test_token_holder_stays_in_their_own_sessions(cls: SenderClass, key: str) -> None:
    sent = replace(message("api", "@anna"), sender=Sender("token:anna", "anna", cls))
    assert thread_session(sent, "main") == key


def test_session_may_be_given_by_short_or_full_name() -> None:
    assert named_key("local", "work") == "local:work"
    assert named_key("local", "api:work") == "api:work"


@pytest.mark.parametrize("parent", ["api:main", child_key(SessionKey("api:main"), "6")])
def test_session_of_a_sub_agent_is_known_by_its_key(parent: str) -> None:
    assert is_subagent(child_key(SessionKey(parent), "7"))
    assert not is_subagent(SessionKey("api:main"))


def used(at: datetime, entries: int = 2) -> Session:
    return Session(SessionKey("local:main"), entries=entries, updated=at.timestamp())


def berlin(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def test_idle_session_is_reset() -> None:
    settings = AgentSettings(reset_idle_minutes=30)
    assert reset_due(used(berlin("2026-01-01T10:00+01:00")), berlin("2026-01-01T10:29+01:00"), settings) is None
    assert reset_due(used(berlin("2026-01-01T10:00+01:00")), berlin("2026-01-01T10:30+01:00"), settings) == "idle"


@pytest.mark.parametrize(
    ("last", "now", "due"),
    [
        ("2026-01-01T03:59+01:00", "2026-01-01T04:00+01:00", "daily"),
        ("2026-01-01T04:00+01:00", "2026-01-01T23:00+01:00", None),
        ("2026-01-01T23:00+01:00", "2026-01-02T03:59+01:00", None),
        ("2026-01-01T23:00+01:00", "2026-01-09T03:00+01:00", "daily"),
        # the night the clocks go forward: four o'clock comes an hour of real time earlier
        ("2026-03-29T01:30+01:00", "2026-03-29T04:00+02:00", "daily"),
        ("2026-03-29T04:00+02:00", "2026-03-30T03:59+02:00", None),
        # the night they go back
        ("2026-10-25T02:30+02:00", "2026-10-25T03:59+01:00", None),
        ("2026-10-25T02:30+02:00", "2026-10-25T04:00+01:00", "daily"),
    ],
)
def test_daily_reset_follows_the_wall_clock(last: str, now: str, due: str | None) -> None:
    settings = AgentSettings(reset_daily_hour=4, timezone="Europe/Berlin")
    assert reset_due(used(berlin(last)), berlin(now), settings) == due


def test_skipped_or_repeated_hour_resets_once() -> None:
    settings = AgentSettings(reset_daily_hour=2, timezone="Europe/Berlin")
    skipped = used(berlin("2026-03-29T01:59+01:00"))
    assert reset_due(skipped, berlin("2026-03-29T03:00+02:00"), settings) == "daily"
    between = used(berlin("2026-10-25T02:10+02:00"))  # after the first two o'clock
    assert reset_due(between, berlin("2026-10-25T02:10+01:00"), settings) is None


def test_empty_session_is_not_reset() -> None:
    settings = AgentSettings(reset_idle_minutes=1, reset_daily_hour=4)
    now = berlin("2026-01-09T03:00+01:00")
    assert reset_due(Session(SessionKey("x")), now, settings) is None
    assert reset_due(used(berlin("2026-01-01T03:00+01:00"), entries=0), now, settings) is None
