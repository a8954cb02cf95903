"""A provider of your own, checked with the same contract as Hob's."""

from hob.core.clock import SystemClock
from hob.core.models import ModelReply, ModelRequest, UserMessage
from hob.providers.settings import ProviderSettings
from hob_echo import open_model


async def test_channel_says_back_what_it_hears() -> None:
    model = open_model(ProviderSettings(), SystemClock(), None)
    events = [event async for event in model.stream(ModelRequest("loud", "", (UserMessage("hello"),)))]
    assert isinstance(events[-1], ModelReply)
    assert events[-1].text == "HELLO"
