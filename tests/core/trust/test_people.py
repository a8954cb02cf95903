"""Addresses of people: two spellings of one are the same, two different ones never."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hob.core.trust.people import SenderAddress, normalize_id

CHANNELS = ("telegram", "signal", "whatsapp", "slack", "email", "sms", "matrix", "msteams")


@pytest.mark.parametrize(
    ("channel", "one", "other"),
    [
        ("whatsapp", "491711234567:12@s.whatsapp.net", "+491711234567"),
        ("whatsapp", "491711234567@c.us", "491711234567"),
        ("signal", "+49 (171) 123-4567", "+491711234567"),
        ("slack", "slack:U123", "user:u123"),
        ("email", "Anna@Example.ORG", "anna@example.org"),
        ("sms", "0049/171", "0049171"),
    ],
)
def test_spellings_of_one_address_are_one(channel: str, one: str, other: str) -> None:
    assert SenderAddress.of(channel, one) == SenderAddress.of(channel.upper(), other)


@pytest.mark.parametrize(
    ("channel", "one", "other"),
    [
        ("matrix", "@Anna:x.org", "@anna:x.org"),
        ("email", "\u212aarl@x.org", "karl@x.org"),
        ("whatsapp", "49171@g.us", "49171"),
        ("telegram", "user:1", "1"),
        ("slack", "slack:", ""),
        ("signal", "+491711x", "+491711"),
    ],
)
def test_different_addresses_stay_different(channel: str, one: str, other: str) -> None:
    assert SenderAddress.of(channel, one) != SenderAddress.of(channel, other)


@given(st.sampled_from(CHANNELS), st.text(max_size=40))
def test_normalizing_an_id_twice_changes_nothing_but_doubled_prefixes(channel: str, id: str) -> None:
    once = normalize_id(channel, id)
    if not any(
        once.casefold().startswith(prefix) for prefix in ("slack:", "user:", "msteams:", "teams:", "signal:", "uuid:")
    ):
        assert normalize_id(channel, once) == once


@given(st.sampled_from(CHANNELS), st.from_regex(r"[a-z0-9]{1,10}", fullmatch=True), st.sampled_from(["", "work"]))
def test_address_is_read_as_it_is_shown(channel: str, id: str, account: str) -> None:
    address = SenderAddress.of(channel, id, account)
    assert SenderAddress.parse(str(address)) == address


@pytest.mark.parametrize("text", ["", "x", ":", "telegram:", ":1", "@x:1"])
def test_malformed_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="telegram:12345"):
        SenderAddress.parse(text)
