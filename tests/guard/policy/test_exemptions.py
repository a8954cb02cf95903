"""What the owner's words contain literally, and what only resembles it."""

import pytest

from hob.core.trust.pasted import MAX_TYPED_CHARACTERS
from hob.guard.policy.addresses import host, path, recipient
from hob.guard.policy.exemptions import OwnerWords, parse_owner_words, urls_in

CONTACTS = {
    "Anna": ("anna@x.example", "+491701234567"),
    "Anna Schmidt": ("as@x.example",),
    "Bob": ("b1@x.example", "b2@x.example"),
}


def named(words: str) -> OwnerWords:
    return parse_owner_words([words], base="/work", home="/home/me", country="49", contacts=CONTACTS)


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("mail bob@example.com please", "bob@example.com"),
        ("mail bob@example.com.", "Bob Miller <BOB@Example.COM>"),
        ("mailto:bob@example.com", "bob@example.com"),
        ("To:bob@example.com", "bob@example.com"),
        ("(bob@example.com), please", "bob@example.com"),
        ("**bob@example.com**", "bob@example.com"),
        ("an 'bob@example.com'", "bob@example.com"),
        ("Don't forget to mail bob@example.com", "bob@example.com"),
        ("Schreib an bob@münchen.example!", "bob@xn--mnchen-3ya.example"),
        ("call +49 170 123 4567 now", "+491701234567"),
        ("call 0049 (0)170 1234567", "+491701234567"),
        ("ruf 0170/1234567 an", "+491701234567"),
        ("mail bob@firma.no, please", "bob@firma.no"),
        ("tell @bob hi", "@Bob"),
        ("tell Anna I am late", "anna@x.example"),
        ("text Anna", "+491701234567"),
        ("tell Anna Schmidt hi", "as@x.example"),
    ],
)
def test_recipient_in_the_owners_words_is_named(words: str, address: str) -> None:
    assert named(words).names_recipient(recipient(address))


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("mail bob@example.com.evil.example", "bob@example.com"),
        ("mail bob@evil-example.com", "bob@example.com"),
        ("mail xbob@example.com", "bob@example.com"),
        ("mail o'bob@example.com", "bob@example.com"),
        ("mail bob@sub.example.com", "bob@example.com"),
        ("mail bob+list@example.com", "bob@example.com"),
        ("mail bob@example.com", "bob+list@example.com"),
        ("look at example.com", "bob@example.com"),
        ("bob at example.com", "bob@example.com"),
        ("mail bob@ex\u0430mple.com", "bob@example.com"),  # a Cyrillic a
        ("mail bob@example.com", "bob@ex\u0430mple.com"),
        ("mail bob@\uff45xample.com", "bob@example.com"),  # a fullwidth e
        ("mail bob\u200b@example.com", "bob@example.com"),
        ("mail bob@example\u3002com", "bob@example.com"),
        ("no, mail nothing to bob@firma.no", "bob@firma.no"),
        ("mail bob@example\u3002com.evil.example", "bob@example.com"),
        ("do not mail bob@example.com", "bob@example.com"),
        ("mail it to anybody except bob@example.com", "bob@example.com"),
        ("Schick das bloß nicht an bob@example.com", "bob@example.com"),
        ("summarise this:\n> mail bob@example.com", "bob@example.com"),
        ("what does this do?\n```\nmail bob@example.com\n```", "bob@example.com"),
        ("see below\n----- Forwarded message -----\nmail bob@example.com", "bob@example.com"),
        ("see below\nOn Mon, 3 May, Eve wrote:\nmail bob@example.com", "bob@example.com"),
        ("mail bob@example.com " + "word " * MAX_TYPED_CHARACTERS, "bob@example.com"),
        ("call +4917012345678", "+491701234567"),
        ("call +49 170 123456", "+491701234567"),
        ("tell @bobby hi", "@bob"),
        ("tell bob hi", "@bob"),
        ("tell Anna Schmidt hi", "anna@x.example"),
        ("tell Annabel hi", "anna@x.example"),
        ("tell Bob hi", "b1@x.example"),
    ],
)
def test_text_resembling_the_recipient_names_nobody(words: str, address: str) -> None:
    assert not named(words).names_recipient(recipient(address))


@pytest.mark.parametrize(
    "address",
    [
        '"bob@example.com" <eve@evil.example>',
        "bob@example.com <eve@evil.example>",
        "<bob@example.com> <eve@evil.example>",
        "bob@example.com\neve@evil.example",
        "bob@example.com, eve@evil.example",
        "bob@example.com%0aeve@evil.example",
        "eve@evil.example(bob@example.com)",
        "bob@[127.0.0.1]",
        "bob@example..com",
        "bob@-example.com",
    ],
)
def test_ambiguous_address_is_never_named(address: str) -> None:
    assert not named("write to bob@example.com").names_recipient(recipient(address))


def test_handle_is_named_with_its_platform_only() -> None:
    bob = recipient("@bob")
    assert named("tell @bob hi").names_recipient(bob, channel="telegram", here="telegram")
    assert named("tell @bob on Signal hi").names_recipient(bob, channel="signal", here="telegram")
    assert not named("tell @bob hi").names_recipient(bob, channel="signal", here="telegram")


@pytest.mark.parametrize(
    "words", ["see example.com", "see example.com.", "what does EXAMPLE.com sell?", "`example.com`"]
)
def test_host_on_its_own_is_named(words: str) -> None:
    assert named(words).names_host(host("example.com"))


@pytest.mark.parametrize(
    "words",
    [
        "see https://example.com/page",  # its page may request another one
        "see https://example.com",
        "see example.com/page",
        "see evil-example.com",
        "see example.com.evil.example",
        "see a.example.com",
        "see example.com:8080",
        "mail bob@example.com",
        "see ex\u0430mple.com",
    ],
)
def test_url_does_not_name_its_host(words: str) -> None:
    assert not named(words).names_host(host("example.com"))


def test_file_name_is_not_a_host() -> None:
    assert not named("summarise report.md, then run setup.sh").names_host(host("report.md"))
    assert not named("summarise report.md, then run setup.sh").names_host(host("setup.sh"))


@pytest.mark.parametrize(
    ("words", "url", "expected"),
    [
        ("read https://a.example/x.", "https://a.example/x", True),
        ("read (https://a.example/x), please", "https://a.example/x", True),
        ("read [this](https://a.example/x)", "https://a.example/x", True),
        ("read https://a.example/x?y=1&z=2", "https://a.example/x?y=1&z=2", True),
        ("read https://a.example/xyz", "https://a.example/x", False),
        ("read https://a.example/x", "https://a.example/x?leak=1", False),
        ("read https://a.example/x", "https://a.example/X", False),
        ("read https://a.example/x", "https://a.example/x/", False),
        ("read https://a.example/x", "https://A.example/x", False),
        ("read https://a.example@evil.example/x", "https://a.example@evil.example/x", False),
        ("read https://a.example\\@evil.example/", "https://a.example\\@evil.example/", False),
        ("read file:///etc/passwd", "file:///etc/passwd", False),
        ("do not read https://a.example/x", "https://a.example/x", False),
    ],
)
def test_address_in_the_web_is_named_byte_for_byte(words: str, url: str, expected: bool) -> None:
    assert named(words).names_url(url) is expected


@pytest.mark.parametrize(
    ("words", "file", "expected"),
    [
        ("delete notes/a.md", "notes/a.md", True),
        ("delete notes/a.md", "/work/notes/../notes/./a.md", True),
        ("delete ~/x/a.md.", "/home/me/x/a.md", True),
        ('delete "My Notes"', "My Notes", True),
        ("delete notes/a.md.bak", "notes/a.md", False),
        ("delete old-notes/a.md", "notes/a.md", False),
        ("delete notes/", "notes/a.md", False),
        ("clean up the notes", "notes", False),
        ("delete notes/*.md", "notes/a.md", False),
        ("never delete notes/a.md", "notes/a.md", False),
    ],
)
def test_file_is_named_by_its_whole_path(words: str, file: str, expected: bool) -> None:
    assert named(words).names_path(path(file, base="/work", home="/home/me")) is expected


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ('[{"url": "https://a.example/x?y=1"}]', {"https://a.example/x?y=1"}),
        (
            "- [A page](https://a.example/x), new",
            {"https://a.example/x", "https://a.example/x)", "https://a.example/x),"},
        ),
        ("see https://a.example/x.", {"https://a.example/x", "https://a.example/x."}),
        ("https://a.example@evil.example/ file:///etc/passwd javascript:x", set()),
    ],
)
def test_search_result_addresses_are_taken_whole(text: str, urls: set[str]) -> None:
    assert urls_in(text) == urls


@pytest.mark.parametrize(
    ("words", "name", "channel", "reached"),
    [
        ("Please tell Carla I am late", "Carla", "", True),
        ("Please tell Carla I am late", "carla", "", True),
        ("Please tell Carla I am late", "Dora", "", False),
        ("Please tell carla I am late", "Carla", "", False),  # as with every name, an ordinary word does not count
        ("Tell Anna Schmidt hi", "Anna", "", False),
        ("Tell Anna Schmidt hi", "Anna Schmidt", "", True),
        ("Never write to Carla", "Carla", "", False),
        ("> tell Carla", "Carla", "", False),
        ("Text Anna", "Anna", "", False),  # who has two addresses
        ("Text Anna on signal", "Anna", "signal", True),
        ("Text Anna", "Anna", "signal", False),
        ("Text Eve", "Eve", "", False),  # who was never admitted
    ],
)
def test_name_of_an_admitted_person_counts_if_the_words_contain_it(
    words: str, name: str, channel: str, reached: bool
) -> None:
    people = {**CONTACTS, "Carla": ("12345",), "Dora": ("6",)}
    assert parse_owner_words([words], contacts=people).names_person(name, channel) is reached
