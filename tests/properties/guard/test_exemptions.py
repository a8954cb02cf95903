"""The owner's words name only equal addresses, whatever an adversary puts beside them."""

import string

from hypothesis import assume, given
from hypothesis import strategies as st

from hob.guard.policy.addresses import Target, host, host_of, is_plain_url, mail, path, recipient
from hob.guard.policy.exemptions import OwnerWords, parse_owner_words

LETTERS = string.ascii_lowercase + string.digits
labels = st.text(LETTERS, max_size=8).map("x{}".format)  # no label is a forbidding word
hosts = st.builds("{}.{}".format, labels, st.sampled_from(["example", "com", "co.uk", "museum"]))
mails = st.builds("{}@{}".format, labels, hosts)
urls = st.builds("https://{}/{}".format, hosts, st.text(LETTERS + "/?=&%-._~", max_size=12))
files = st.builds("{}/{}.txt".format, labels, labels)
glue = st.text(LETTERS + ".-_+@:/", min_size=1, max_size=6)
odd = st.sampled_from(["\u0430", "\u200b", "\u202e", "\uff45", "\u3002", "\u2024", "\u00ad", "\u0301", "\x00", "\x85"])
noise = st.text(max_size=40)


def named(*words: str) -> OwnerWords:
    return parse_owner_words(words, base="/work", home="/home/me", country="49")


@given(
    mails, st.sampled_from(["mail {} now", "{}", "{}.", "({})", "<{}>", '"{}"', "To: {}", "mailto:{}", "{}, please"])
)
def test_literal_address_is_named(address: str, sentence: str) -> None:
    assert named(sentence.format(address)).names_recipient(recipient(address.upper()))


@given(mails, mails, noise)
def test_only_equal_addresses_are_named(said: str, meant: str, around: str) -> None:
    assume(mail(said) != mail(meant) and meant not in around)
    assert not named(f"{around} {said} {around}").names_recipient(recipient(meant))


@given(mails, glue, glue, st.sampled_from(["before", "after", "both"]))
def test_text_attached_to_an_address_makes_it_another(address: str, before: str, after: str, where: str) -> None:
    text = (before if where != "after" else "") + address + (after if where != "before" else "")
    assume(mail(text.rstrip(".:").removeprefix("to:").removeprefix("an:")) != mail(address))
    found = named(f"write to {text} today")
    assert not found.names_recipient(recipient(address)) or address in text.split("/") + text.split(":")


@given(mails, odd, st.data())
def test_lookalike_character_names_nobody(address: str, char: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(1, len(address) - 1))
    spoilt = address[:place] + char + address[place:]
    replaced = address[:place] + char + address[place + 1 :]
    for text in (spoilt, replaced):
        assert not named(f"write to {text} today").names_recipient(recipient(address))
        assert not named(f"write to {address} today").names_recipient(recipient(text))


@given(hosts, labels)
def test_host_names_neither_parent_nor_subdomains(name: str, label: str) -> None:
    assert named(f"look at {name}").names_host(host(name.upper() + "."))
    for other in (f"{label}.{name}", f"{label}-{name}", f"{name}.{label}", f"{name}:81"):
        assume(host(other) != host(name))
        assert not named(f"look at {name}").names_host(host(other))
        assert not named(f"look at {other}").names_host(host(name))


@given(urls, urls)
def test_address_in_the_web_is_named_byte_for_byte(said: str, other: str) -> None:
    found = named(f"read {said} now")
    assert found.names_url(said) == is_plain_url(said)
    assume(not said.startswith(other))
    assert not found.names_url(other)
    assert not found.names_host(host_of(said))


@given(files, files)
def test_file_names_only_itself(said: str, other: str) -> None:
    found = named(f"delete {said}")
    assert found.names_path(path(said, base="/work", home="/home/me"))
    assume(said != other)
    for text in (other, f"{said}.bak", f"x/{said}", f"../{said}", said.rpartition("/")[0], f"{said}/x"):
        assert not found.names_path(path(text, base="/work", home="/home/me"))


@given(mails, st.sampled_from(["> {}", "```\n{}\n```", "do not mail {}", "never {}", "mail all but not {}", "ohne {}"]))
def test_quoted_or_forbidden_names_are_not_exempt(address: str, sentence: str) -> None:
    assert not named(sentence.format(address)).names_recipient(recipient(address))


@given(st.text(max_size=300), st.text(max_size=80))
def test_parsing_never_raises(words: str, text: str) -> None:
    found = named(words)
    for target in (recipient(text), recipient(text, "49"), host(text), host_of(text)):
        assert target is None or isinstance(target, Target)
        found.names_recipient(target)
        found.names_host(target)
    found.names_url(text)
    found.names_path(path(text, base="/work", home="/home/me"))


@given(st.text(max_size=60))
def test_normalisation_is_idempotent(text: str) -> None:
    """Otherwise two spellings of one address could be told apart, or two addresses could be equal."""
    found = recipient(text)
    if found is not None:
        assert recipient(found.value) == found
    place = host(text)
    if place is not None:
        assert host(place.value) == place
    where = path(text, base="/work", home="/home/me")
    assert path(where, base="/elsewhere", home="/") == where
