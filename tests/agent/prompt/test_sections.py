"""Prompt sections of features: trusted text as Hob's own, all other text between marks."""

import pytest

from hob.agent.prompt.builder import PromptBuilder
from hob.agent.settings import AgentSettings
from hob.core.trust.labels import HOB_LABEL, Label, Trust
from hob.core.turns import TranscriptView, Turn
from hob.testing.clock import ManualClock
from tests.agent.prompting import WEB, Files, inbound, texts, turn


class Found:
    """A section with one label."""

    name = "found"
    epoch = 0

    def __init__(self, label: Label, *, cached: bool, text: str = "it rains") -> None:
        self.cached = cached
        self._label = label
        self._text = text

    async def write(self, turn: Turn) -> tuple[str, Label]:
        return self._text, self._label


def builder(section: Found) -> PromptBuilder:
    return PromptBuilder(AgentSettings(), ManualClock(), Files(), salt=b"salt", sections=[section])


@pytest.mark.parametrize("cached", [True, False])
async def test_untrusted_section_of_a_feature_is_marked_and_taints(cached: bool) -> None:
    prompts = builder(Found(WEB, cached=cached))
    prompt = await prompts.build(turn(inbound("hi")), (), TranscriptView((), None, 0), (), "m", patience=8)
    assert prompt.trust is Trust.UNTRUSTED
    assert "it rains" not in prompt.request.system
    told = texts(prompt.request)
    assert told.index("<untrusted-") < told.index("it rains") < told.index("</untrusted-")


@pytest.mark.parametrize("cached", [True, False])
async def test_trusted_section_of_a_feature_does_not_taint(cached: bool) -> None:
    prompts = builder(Found(HOB_LABEL, cached=cached))
    prompt = await prompts.build(turn(inbound("hi")), (), TranscriptView((), None, 0), (), "m", patience=8)
    assert prompt.trust is Trust.TRUSTED
    assert ("it rains" in prompt.request.system) is cached
    assert [section.cached for section in prompt.sections if section.name == "found"] == [cached]


async def test_long_section_of_a_feature_is_shortened_to_leave_room_for_the_message() -> None:
    prompts = builder(Found(HOB_LABEL, cached=True, text="word " * 100_000))
    prompt = await prompts.build(turn(inbound("hi")), (), TranscriptView((), None, 0), (), "m", patience=8)
    assert prompt.input_estimate <= prompt.limit
    assert "hi" in texts(prompt.request)
