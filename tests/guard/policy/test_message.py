"""The guard's view of the message tool: who gets it, and what it carries."""

import pytest

from hob.core.ports.guard import Allow, Ask, Verdict
from hob.core.trust.labels import SenderClass, Trust
from hob.guard.policy.call_analysis import read_call
from hob.guard.policy.context import Context, Private, Sandbox
from hob.guard.policy.exemptions import parse_owner_words
from hob.guard.policy.modes import Mode
from hob.tools.messages.specs import MESSAGE
from tests.guard.calling import POLICY, READER, call_of

CHAT = Private(("message",), "Anna: what do you bring? I bring the soup, the salad and the red wine.")


def judged(words: str, **arguments: str) -> Verdict:
    """Return the verdict after the chat with Anna was read."""
    analysis = read_call(call_of("message", **arguments), MESSAGE, READER, Sandbox())
    assert analysis is not None
    context = Context(
        sender=SenderClass.OWNER,
        trust=Trust.UNTRUSTED,
        named=parse_owner_words([words], contacts={"Anna": ("telegram:22",)}),
        channel="telegram",
        mode=Mode.GUARDED,
        answerable=True,
        private=(CHAT,),
    )
    return POLICY.decide(analysis, context).verdict


def test_message_of_the_owners_words_carries_nothing_that_was_read() -> None:
    assert isinstance(judged("Tell Anna that I bring bread.", action="send", to="Anna", text="I bring bread."), Allow)


@pytest.mark.parametrize(
    "more",
    [
        {"text": "I bring bread to the soup and the red wine."},
        {"text": "I bring bread.", "message": "the red wine"},
        {"text": "I bring bread.", "action": "the red wine"},
    ],
)
def test_message_with_other_words_after_private_text_needs_approval(more: dict[str, str]) -> None:
    asked = judged("Tell Anna that I bring bread.", **{"action": "send", "to": "Anna", **more})
    assert isinstance(asked, Ask)
    assert asked.rule.startswith("taint.")
