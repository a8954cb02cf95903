"""All models as one: the chain, what may leave the house, what comes back."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from hob.core.errors import ModelError, ModelFault
from hob.core.ids import BlobId, SessionKey
from hob.core.models import (
    Image,
    ModelEvent,
    ModelProfile,
    ModelReply,
    ModelRequest,
    Remark,
    TextDelta,
    Thinking,
    UserMessage,
)
from hob.core.ports.model import Profiles
from hob.core.ports.tools import Blobs
from hob.core.settings import Secret
from hob.guard.screening.model_calls.screening import ModelScreening
from hob.guard.screening.model_calls.settings import PromptGuardSettings, SanitizerSettings, ScreeningAction
from hob.providers.opening import open_model
from hob.providers.routing.classifier_settings import ClassifierRule, ClassifierSettings
from hob.providers.routing.routing import ModelRouter
from hob.providers.settings import ModelSettings, ProviderSettings
from hob.testing.clock import ManualClock
from hob.testing.model_server import Fault, ModelServer, Reply

KEY = "AKIA" + "QZ7XK3PLM2VN4RTC"  # the shape of an access key


def request(text: str = "hi", **fields: Any) -> ModelRequest:
    return ModelRequest("", "", (UserMessage(text),), **fields)


@asynccontextmanager
async def opened(
    server: ModelServer,
    *,
    guard: PromptGuardSettings | None = None,
    classifier: ClassifierSettings | None = None,
    away: str = "http://127.0.0.1:1",
    blobs: Blobs | None = None,
    profiles: Profiles | None = None,
    **fields: Any,
) -> AsyncIterator[ModelRouter]:
    """`far/…` is somebody else's machine, `near/…` one's own, `away/…` is not there."""
    providers = {
        "far": ProviderSettings(base_url=server.url, api_key=Secret.of("k"), local=False, model="one"),
        "near": ProviderSettings(base_url=server.url, local=True, model="two"),
        "away": ProviderSettings(base_url=away, local=False),
    }
    settings = ModelSettings(**{"name": "far/one", "providers": providers, **fields})
    screening = ModelScreening(guard or PromptGuardSettings(), SanitizerSettings(), b"key of this home")
    clock = ManualClock(jump=True)
    opening = open_model(settings, clock, screening=screening, classifier=classifier, blobs=blobs, profiles=profiles)
    async with opening as model:
        yield model


async def heard(model: ModelRouter, request: ModelRequest) -> list[ModelEvent]:
    return [event async for event in model.stream(request)]


def asked_of(server: ModelServer) -> list[str]:
    return [asked.json()["model"] for asked in server.requests if asked.path.endswith("/chat/completions")]


async def test_chain_is_told_before_anything_is_sent() -> None:
    async with ModelServer() as server, opened(server, fallbacks=["near/two"]) as model:
        route = await model.route(request())
        assert route.request.models == ("far/one", "near/two")
        assert route.request.model == "far/one"
        assert not server.requests


async def test_next_model_answers_with_one_line_about_it() -> None:
    async with ModelServer(Reply(fault=Fault.UNAUTHORIZED)) as server, opened(server, fallbacks=["near/two"]) as model:
        events = await heard(model, request())
        assert asked_of(server) == ["one", "two"]
    reply = events[-1]
    assert isinstance(reply, ModelReply)
    assert (reply.ref, reply.attempts) == ("near/two", 2)
    assert len([event for event in events if isinstance(event, Remark)]) == 1


async def test_server_that_cannot_name_its_model_is_passed_over() -> None:
    async with ModelServer() as server, opened(server, name="away/", fallbacks=["near/two"]) as model:
        route = await model.route(request())
        assert route.request.models == ("near/two",)
        assert [remark.values for remark in route.remarks] == [(("model", "away"), ("other", "near/two"))]


async def test_server_that_cannot_name_its_model_is_told_once_in_a_session() -> None:
    async with ModelServer() as server, opened(server, name="away/", fallbacks=["near/two"]) as model:
        routes = [await model.route(request(cache_key=SessionKey("s"))) for _ in range(2)]
        assert [len(route.remarks) for route in routes] == [1, 0]


async def test_turn_goes_on_with_the_chain_it_began_with() -> None:
    async with ModelServer() as server, opened(server) as model:
        assert (await model.route(request(models=("near/two",)))).request.models == ("near/two",)


async def test_configured_thinking_counts_where_nothing_was_chosen() -> None:
    async with ModelServer() as server, opened(server, thinking="high") as model:
        assert (await model.route(request())).request.thinking is Thinking.HIGH
        assert (await model.route(request(thinking=Thinking.OFF))).request.thinking is Thinking.OFF


async def test_secret_is_kept_from_somebody_elses_machine_and_comes_back_in_the_answer() -> None:
    async with ModelServer() as server, opened(server) as model:
        events = await heard(model, request(f"what is {KEY} for?"))
        assert KEY not in server.requests[-1].body.decode()
    assert isinstance(events[-1], ModelReply)
    assert KEY in events[-1].text
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == events[-1].text


async def test_local_model_gets_the_unredacted_request() -> None:
    async with ModelServer() as server, opened(server, name="near/two") as model:
        await heard(model, request(f"what is {KEY} for?"))
        assert KEY in server.requests[-1].body.decode()


async def test_private_request_goes_to_the_local_model_or_to_no_one() -> None:
    stays = PromptGuardSettings(secrets=ScreeningAction.LOCAL, local_model="near/two")
    async with ModelServer() as server, opened(server, guard=stays) as model:
        await heard(model, request(KEY))
        assert asked_of(server) == ["two"]
    nowhere = PromptGuardSettings(secrets=ScreeningAction.LOCAL)
    async with ModelServer() as server, opened(server, guard=nowhere) as model:
        with pytest.raises(ModelError, match=r"set prompt_guard\.local_model") as caught:
            await heard(model, request(KEY))
        assert caught.value.fault is ModelFault.FILTERED
        assert KEY not in str(caught.value)
        assert not server.requests


class Blind:
    """Implements `Profiles` and `Blobs`: no model sees, and every picture is a red dot."""

    def find_profile(self, model: str) -> ModelProfile:
        return ModelProfile(images=False)

    async def put(self, data: bytes, media_type: str) -> BlobId:
        raise NotImplementedError

    async def load(self, blob: BlobId) -> bytes:
        return b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(("text", "asked"), [(f"what is {KEY} for?", ["two"]), ("what is it?", ["eyes", "two"])])
async def test_private_pictures_are_not_sent_to_other_machines(text: str, asked: list[str]) -> None:
    stays = PromptGuardSettings(secrets=ScreeningAction.LOCAL, local_model="near/two")
    picture = UserMessage(text, (Image(BlobId("b"), "image/png"),))
    # asked of the far one first, so that it is screened
    wanted = ModelRequest("", "", (picture,), models=("far/one", "near/two"))
    async with (
        ModelServer() as server,
        opened(server, guard=stays, vision="far/eyes", blobs=Blind(), profiles=Blind()) as model,
    ):
        route = await model.route(wanted)
        await heard(model, replace(route.request, models=("near/two",)))
        assert asked_of(server) == asked


async def test_local_model_that_is_none_gets_nothing() -> None:
    wrong = PromptGuardSettings(secrets=ScreeningAction.LOCAL, local_model="far/one")
    async with ModelServer() as server, opened(server, guard=wrong) as model:
        with pytest.raises(ModelError, match="does not run on your own machines"):
            await heard(model, request(KEY))
        assert not server.requests


async def test_rule_chooses_another_model_unless_somebody_named_one() -> None:
    rules = ClassifierSettings(True, [ClassifierRule(model="near/two", max_chars=20)])
    async with ModelServer() as server, opened(server, classifier=rules) as model:
        assert (await model.route(request("short"))).request.models == ("near/two",)
        assert (await model.route(request("a message that is longer than that"))).request.models == ("far/one",)
        named = ModelRequest("far/one", "", (UserMessage("short"),))
        assert (await model.route(named)).request.models == ("far/one",)


async def test_failed_route_rests_and_is_named() -> None:
    async with ModelServer(Reply(fault=Fault.PAYMENT)) as server, opened(server, fallbacks=["near/two"]) as model:
        assert model.resting() == ()
        await heard(model, request())
        (resting,) = model.resting()
        assert (resting.route.ref, resting.fault) == ("far/one", ModelFault.BILLING)


async def test_bare_name_that_its_server_does_not_list_is_doubted() -> None:
    async with ModelServer() as server, opened(server) as model:
        listed = (await model.routes.list_models("far"))[0].name
        assert await model.check_ref(listed) is None
        assert await model.check_ref("far/anything") is None
        doubted = await model.check_ref(f"{listed}x")
        assert doubted is not None
        assert doubted.endswith(f"did you mean {listed}? `/model far/{listed}x` takes it all the same")


async def test_bare_name_of_a_server_that_lists_nothing_is_taken() -> None:
    async with ModelServer() as server, opened(server, name="away/one") as model:
        assert await model.check_ref("anything") is None
