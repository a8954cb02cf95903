"""Describing pictures: what it took is told, failed attempts included."""

import pytest

from hob.agent.prompt.tokens import estimate_tokens
from hob.core.errors import ModelError, ModelFault
from hob.core.models import ModelReply, Usage
from hob.providers.media.media import HeldPictures, VisionDescriber
from hob.providers.routing.failover import ModelRoute
from hob.providers.routing.failover_model import Failover
from hob.testing.clock import ManualClock
from hob.testing.model import Line, ScriptedModel

PICTURE = b"\x89PNG\r\n\x1a\n"
SEEN = ModelReply("A cat.", usage=Usage(100, 10))


def describer(*script: Line) -> VisionDescriber:
    model = ScriptedModel(*script)
    clock = ManualClock(jump=True)
    failover = Failover(
        lambda ref: (ModelRoute(ref, "acme"),), lambda _: model, clock, max_attempts=2, draw=lambda: 0.0
    )
    return VisionDescriber(failover, "acme/eyes", HeldPictures())


def cut(usage: Usage | None) -> ModelError:
    return ModelError(ModelFault.CUT, "broke off", usage=usage)


@pytest.mark.parametrize(("failed", "whole"), [(Usage(90, 1), Usage(190, 11)), (None, None)])
async def test_description_usage_includes_its_failed_attempts(failed: Usage | None, whole: Usage | None) -> None:
    assert (await describer(cut(failed), SEEN).describe(PICTURE, "image/png")).usage == whole


@pytest.mark.parametrize(("last", "whole"), [(Usage(1, 2), Usage(91, 3)), (None, None)])
async def test_failed_description_has_the_usage_of_all_attempts(last: Usage | None, whole: Usage | None) -> None:
    with pytest.raises(ModelError) as caught:
        await describer(cut(Usage(90, 1)), cut(last)).describe(PICTURE, "image/png")
    assert (caught.value.usage, caught.value.cost, caught.value.is_billable) == (whole, None, True)


@pytest.mark.parametrize("letter", ["a", "ä", "猫", "🐈", "\ud83d"])
async def test_description_has_at_most_1000_tokens(letter: str) -> None:
    model = ScriptedModel(ModelReply(letter * 9_000))
    said = await VisionDescriber(model, "acme/eyes", HeldPictures()).describe(PICTURE, "image/png")
    assert 990 <= estimate_tokens(said.text) <= 1_000
    assert said.text.endswith(letter + " …")
    assert model.requests[0].max_tokens == 1_000


async def test_description_of_1000_tokens_is_whole() -> None:
    long = "word" * 1_000
    model = ScriptedModel(ModelReply(long))
    assert (await VisionDescriber(model, "acme/eyes", HeldPictures()).describe(PICTURE, "image/png")).text == long


async def test_refused_picture_has_no_usage() -> None:
    with pytest.raises(ModelError) as caught:
        await describer(ModelError(ModelFault.AUTH)).describe(PICTURE, "image/png")
    assert not caught.value.is_billable
