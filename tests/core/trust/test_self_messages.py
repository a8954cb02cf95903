"""What Hob tells itself is worth what the turn that said it had read."""

from dataclasses import replace

import pytest

from hob.agent.turn.entries import opening_entries
from hob.core.ids import InboundId
from hob.core.messages import Address, Inbound
from hob.core.trust.labels import OWNER_LABEL, Label, Origin, SenderClass, Trust
from hob.core.trust.self_messages import make_self_message
from hob.core.turns import TranscriptView, Turn
from tests.agent.prompting import MEMBER, WEB, builder, inbound, turn


def made(trust: Trust, *inbounds: Inbound, joined: tuple[Inbound, ...] = ()) -> Inbound:
    of: Turn = replace(turn(*inbounds), joined=joined)
    return make_self_message(of, trust, "do it later", id=InboundId("m2"), key="k2", to=Address("hob", "jobs"))


@pytest.mark.parametrize(
    ("trust", "label", "expected"),
    [
        (Trust.TRUSTED, OWNER_LABEL, Trust.TRUSTED),
        (Trust.UNTRUSTED, OWNER_LABEL, Trust.UNTRUSTED),
        (Trust.TRUSTED, MEMBER, Trust.UNTRUSTED),
    ],
)
def test_self_message_is_as_trusted_as_its_turn(trust: Trust, label: Label, expected: Trust) -> None:
    child = made(trust, inbound("hi", label=label))
    assert child.label == Label(Origin.MODEL, expected)
    assert made(Trust.TRUSTED, child).label.trust is expected  # and so is what comes of it


def test_self_message_is_never_the_owners_own_word() -> None:
    child = made(Trust.TRUSTED, inbound("hi"))
    assert (child.label.origin, child.hops, child.background) == (Origin.MODEL, 1, True)
    assert made(Trust.TRUSTED, child).hops == 2


def test_self_message_has_the_least_trusted_class_of_all_senders() -> None:
    late = inbound("me too", label=WEB, cls=SenderClass.STRANGER, group=True)
    child = made(Trust.TRUSTED, inbound("hi"), joined=(late,))
    assert child.sender.cls is SenderClass.STRANGER
    assert child.label.trust is Trust.UNTRUSTED
    assert child.group


async def test_untrusted_self_message_taints_the_turn_it_opens() -> None:
    asking = turn(made(Trust.UNTRUSTED, inbound("hi")))
    assert [entry.label.trusted for entry in opening_entries(asking, 0.0)] == [False]
    prompt = await builder().build(asking, (), TranscriptView(), (), "m", patience=8)
    assert prompt.trust is Trust.UNTRUSTED
    assert "from=model>\ndo it later\n</untrusted-" in prompt.request.messages[0].text
