"""A chain of models as one: who is asked, what is passed on, what the answer and the error tell."""

from collections.abc import Mapping

import pytest

from hob.core.errors import ModelError, ModelFault, StoreDamaged
from hob.core.ids import SessionKey
from hob.core.models import ExtraCall, KeepAlive, ModelEvent, ModelReply, ModelRequest, Remark, TextDelta, UserMessage
from hob.core.translation.sentences import FALLBACK_SENTENCES, Sentence, say
from hob.providers.routing.failover import ModelRoute, RouteHealth
from hob.providers.routing.failover_model import Failover, RouteHealthView
from hob.testing.clock import ManualClock
from hob.testing.model import Cut, Line, ScriptedModel, Silence

OVERLOAD = ModelError(ModelFault.OVERLOAD, "busy")
AUTH = ModelError(ModelFault.AUTH, "wrong key")


class Servers:
    """Scripted models by reference, or by reference and key (`acme/big#1`), and the failover over them."""

    def __init__(self, scripts: Mapping[str, tuple[Line, ...]], clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock(jump=True)
        self.models = {name: ScriptedModel(*script) for name, script in scripts.items()}
        self.model = Failover(self.routes_of, self.open, self.clock, draw=lambda: 0.0)

    def routes_of(self, ref: str) -> tuple[ModelRoute, ...]:
        keys = [name for name in self.models if name.partition("#")[0] == ref]
        return tuple(ModelRoute(ref, ref.partition("/")[0], place) for place in range(len(keys)))

    def open(self, route: ModelRoute) -> ScriptedModel:
        return self.models.get(f"{route.ref}#{route.key}") or self.models[route.ref]

    async def ask(self, *models: str, patience: float = 8.0, session: str | None = None) -> list[ModelEvent]:
        request = ModelRequest(
            "",
            "",
            (UserMessage("hi"),),
            patience=patience,
            models=models or tuple(self.models),
            cache_key=SessionKey(session) if session else None,
        )
        return [event async for event in self.model.stream(request)]


def reply_of(events: list[ModelEvent]) -> ModelReply:
    assert isinstance(events[-1], ModelReply)
    return events[-1]


def remarks_of(events: list[ModelEvent]) -> list[Remark]:
    return [event for event in events if isinstance(event, Remark)]


async def test_healthy_first_model_answers_without_a_remark() -> None:
    servers = Servers({"a/x": ("here I am",), "b/y": ()})
    events = await servers.ask()
    assert (reply_of(events).text, reply_of(events).ref, reply_of(events).attempts) == ("here I am", "a/x", 1)
    assert remarks_of(events) == []
    assert servers.models["b/y"].requests == []


async def test_another_model_answers_and_one_remark_before_its_first_word_says_so() -> None:
    servers = Servers({"a/x": (AUTH,), "b/y": ("instead",)})
    events = await servers.ask()
    remark = Remark(Sentence.STAND_IN_AUTH, (("model", "a/x"), ("other", "b/y")))
    assert [event for event in events if not isinstance(event, KeepAlive)][:2] == [remark, TextDelta("instead")]
    assert (reply_of(events).ref, reply_of(events).attempts) == ("b/y", 2)


async def test_resting_first_model_is_not_asked_and_the_remark_says_why() -> None:
    servers = Servers({"a/x": (ModelError(ModelFault.BILLING),), "b/y": ("one", "two")})
    await servers.ask()
    events = await servers.ask()
    assert [remark.sentence for remark in remarks_of(events)] == [Sentence.STAND_IN_BILLING]
    assert reply_of(events).attempts == 1


async def test_stand_in_is_told_once_in_each_session_while_the_outage_lasts() -> None:
    servers = Servers({"a/x": (ModelError(ModelFault.BILLING),), "b/y": ("one", "two", "three")})
    told = [len(remarks_of(await servers.ask(session=session))) for session in ("s", "s", "t")]
    assert told == [1, 0, 1]


async def test_next_outage_and_another_stand_in_are_news() -> None:
    auth = ModelError(ModelFault.AUTH)
    servers = Servers({"a/x": (OVERLOAD, OVERLOAD, "back", OVERLOAD), "b/y": ("one", "two", auth), "c/z": ("three",)})
    assert len(remarks_of(await servers.ask(session="s"))) == 1
    await servers.clock.advance(31)
    assert remarks_of(await servers.ask(session="s")) == []
    assert len(remarks_of(await servers.ask(patience=0.0, session="s"))) == 1
    remarks = remarks_of(await servers.ask(patience=0.0, session="s"))
    assert [dict(remark.values)["other"] for remark in remarks] == ["c/z"]


async def test_failover_returns_to_the_first_model_when_its_rest_is_over() -> None:
    servers = Servers({"a/x": (OVERLOAD, OVERLOAD, "back"), "b/y": ("one", "two")})
    assert [reply_of(await servers.ask()).ref for _ in range(2)] == ["b/y", "b/y"]
    await servers.clock.advance(31)
    events = await servers.ask()
    assert (reply_of(events).text, remarks_of(events)) == ("back", [])


async def test_answer_ends_the_cooldown_of_a_model() -> None:
    servers = Servers({"a/x": (OVERLOAD, "back", OVERLOAD), "b/y": ("one", "two")})
    await servers.ask(patience=0.0)
    await servers.clock.advance(31)
    assert reply_of(await servers.ask(patience=0.0)).ref == "a/x"
    await servers.ask(patience=0.0)
    bad, _ = servers.model.health_view(("a/x", "b/y"))
    assert bad.until is not None
    assert (bad.until - servers.clock.now()).total_seconds() == 30.0


async def test_answer_with_another_key_makes_no_remark() -> None:
    servers = Servers({"a/x#0": (AUTH,), "a/x#1": ("with the second",)})
    events = await servers.ask("a/x")
    assert (reply_of(events).attempts, remarks_of(events)) == (2, [])


async def test_models_behind_are_asked_for_themselves_alone_with_the_patience_that_is_left() -> None:
    servers = Servers({"a/x": (OVERLOAD, OVERLOAD), "b/y": ("yes",)})
    await servers.ask(patience=60.0)
    asked = [request for model in servers.models.values() for request in model.requests]
    assert [(request.model, request.models) for request in asked] == [("a/x", ()), ("a/x", ()), ("b/y", ())]
    assert [request.patience for request in asked] == [60.0, 59.5, 59.5]


async def test_model_of_the_request_is_asked_without_a_chain() -> None:
    servers = Servers({"a/x": ("yes",)})
    request = ModelRequest("a/x", "", ())
    events = [event async for event in servers.model.stream(request)]
    assert reply_of(events).ref == "a/x"


async def test_reply_tells_how_many_requests_it_took() -> None:
    servers = Servers({"a/x": (OVERLOAD, ModelError(ModelFault.NETWORK, "away"), "here I am")})
    assert reply_of(await servers.ask()).attempts == 3
    assert servers.clock.monotonic() == 1000.0 + 0.5 + 1.0


async def test_stream_that_breaks_after_text_is_not_begun_again_anywhere() -> None:
    servers = Servers({"a/x": (Cut("Half an ", ModelError(ModelFault.CUT)),), "b/y": ("whole",)})
    events = servers.model.stream(ModelRequest("", "", (), models=("a/x", "b/y")))
    assert [await anext(events), await anext(events)] == [TextDelta("Half "), TextDelta("an ")]
    assert await anext(events) == ExtraCall("a/x", ModelFault.CUT, has_next=False)
    with pytest.raises(ModelError) as caught:
        await anext(events)
    assert (caught.value.fault, caught.value.attempts, caught.value.cost) == (ModelFault.CUT, 1, 0)
    assert servers.models["b/y"].requests == []


async def test_one_error_names_each_model_when_all_failed() -> None:
    servers = Servers({"a/x": (AUTH,), "b/y": (ModelError(ModelFault.NOT_FOUND, "gone"),)})
    with pytest.raises(ModelError, match=r"^a/x: wrong key; b/y: no such model$") as caught:
        await servers.ask()
    assert (caught.value.fault, caught.value.attempts) == (ModelFault.AUTH, 2)


async def test_silent_model_is_left_while_another_was_not_asked() -> None:
    servers = Servers({"a/x": (Silence(),), "b/y": ("awake",)})
    events = await servers.ask()
    assert [remark.sentence for remark in remarks_of(events)] == [Sentence.STAND_IN_TIMEOUT]
    assert servers.clock.monotonic() == 1090.0
    assert servers.models["a/x"].open_streams == 0


async def test_model_that_has_begun_may_be_silent_for_longer() -> None:
    class Slow(ScriptedModel):
        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            yield TextDelta("wait")
            await servers.clock.sleep(200)
            yield ModelReply("wait")

    servers = Servers({"a/x": (), "b/y": ("yes",)})
    servers.models["a/x"] = Slow()
    assert reply_of(await servers.ask()).ref == "a/x"


async def test_remark_of_the_model_is_no_answer_yet() -> None:
    servers = Servers({"a/x": (OVERLOAD, OVERLOAD), "b/y": ("yes",)})
    servers.models["a/x"].remarks = (Remark(Sentence.STAND_IN_AUTH, (("model", "c"), ("other", "d"))),)
    assert reply_of(await servers.ask()).ref == "b/y"


async def test_sign_of_life_comes_before_each_wait() -> None:
    servers = Servers({"a/x": (OVERLOAD, "yes")}, ManualClock())
    events = servers.model.stream(ModelRequest("", "", (), models=("a/x",)))
    assert isinstance(await anext(events), KeepAlive)
    assert servers.clock.sleepers() == 0  # told before it waits
    await events.aclose()


async def test_model_that_ends_without_an_answer_is_followed_by_another() -> None:
    class Mute(ScriptedModel):
        async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
            self.requests.append(request)
            yield KeepAlive()

    servers = Servers({"a/x": (), "b/y": ("yes",)})
    servers.models["a/x"] = Mute()
    events = await servers.ask()
    assert [remark.sentence for remark in remarks_of(events)] == [Sentence.STAND_IN_UNUSABLE]
    assert len(servers.models["a/x"].requests) == 2


class Broken(ScriptedModel):
    """A model of which a defect comes out after these events."""

    def __init__(self, *events: ModelEvent) -> None:
        super().__init__()
        self.events = events

    async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
        for event in self.events:
            yield event
        raise TypeError("the key is sk-not-for-the-chat")


async def test_defect_in_reading_an_answer_is_that_models_failure(caplog: pytest.LogCaptureFixture) -> None:
    servers = Servers({"a/x": (), "b/y": ("yes",)})
    servers.models["a/x"] = Broken(KeepAlive())
    events = await servers.ask()
    assert (reply_of(events).text, reply_of(events).ref) == ("yes", "b/y")
    assert "test_failover_model.py" in caplog.text  # the log says where
    with pytest.raises(ModelError, match="TypeError") as caught:
        await servers.ask("a/x")
    assert caught.value.fault is ModelFault.GARBAGE
    assert "sk-not" not in str(caught.value)


async def test_defect_after_the_answer_does_not_affect_it() -> None:
    servers = Servers({"a/x": ()})
    servers.models["a/x"] = Broken(TextDelta("4"), ModelReply("4"))
    assert reply_of(await servers.ask()).text == "4"


async def test_database_error_is_not_a_models_fault() -> None:
    servers = Servers({"a/x": (StoreDamaged(),), "b/y": ()})
    with pytest.raises(StoreDamaged):
        await servers.ask()
    assert servers.models["b/y"].requests == []


async def test_reference_of_which_nothing_is_known_does_not_stop_the_others() -> None:
    servers = Servers({"b/y": ("yes",)})
    events = await servers.ask("typo/x", "b/y")
    assert [remark.sentence for remark in remarks_of(events)] == [Sentence.STAND_IN_SETTINGS]
    with pytest.raises(ModelError) as caught:
        await servers.ask("typo/x")
    assert (caught.value.fault, caught.value.attempts) == (ModelFault.NOT_CONFIGURED, 0)


async def test_route_that_cannot_be_opened_is_passed_by() -> None:
    inner = ScriptedModel("yes")

    def open_route(route: ModelRoute) -> ScriptedModel:
        if route.ref == "a/x":
            raise ModelError(ModelFault.SETTINGS, "its key cannot be read")
        return inner

    model = Failover(lambda ref: (ModelRoute(ref, ref),), open_route, ManualClock())
    events = [event async for event in model.stream(ModelRequest("", "", (), models=("a/x", "b/y")))]
    assert reply_of(events).ref == "b/y"


async def test_closing_early_closes_the_model_behind() -> None:
    servers = Servers({"a/x": ("some words to be read",), "b/y": ()}, ManualClock())
    events = servers.model.stream(ModelRequest("", "", (), models=("a/x", "b/y")))
    await anext(events)
    assert servers.models["a/x"].open_streams == 1
    await events.aclose()
    assert servers.models["a/x"].open_streams == 0
    assert servers.clock.sleepers() == 0


async def test_other_requests_are_retried_with_the_same_patience() -> None:
    said: list[str | ModelError] = [OVERLOAD, ModelError(ModelFault.NETWORK), "tiny"]

    async def ask() -> str:
        line = said.pop(0)
        if isinstance(line, ModelError):
            raise line
        return line

    servers = Servers({})
    assert await servers.model.with_retries(ask) == "tiny"
    said.append(AUTH)
    with pytest.raises(ModelError, match="wrong key"):
        await servers.model.with_retries(ask)


async def test_health_is_told_lane_by_lane_with_the_time_on_the_wall() -> None:
    servers = Servers({"a/x": (AUTH,), "b/y": ("yes",)})
    await servers.ask()
    bad, good = servers.model.health_view(("a/x", "b/y", "typo/z"))
    assert (bad.fault, good) == (ModelFault.AUTH, RouteHealthView(ModelRoute("b/y", "b")))
    assert bad.until is not None
    assert (bad.until - servers.clock.now()).total_seconds() == 300.0


async def test_health_can_be_shared() -> None:
    health, clock = RouteHealth(), ManualClock()
    servers = Servers({"a/x": (AUTH,), "b/y": ("one", "two")}, clock)
    first, second = (Failover(servers.routes_of, servers.open, clock, health=health) for _ in range(2))
    request = ModelRequest("", "", (), models=("a/x", "b/y"))
    for model in (first, second):
        assert reply_of([event async for event in model.stream(request)]).ref == "b/y"
    assert len(servers.models["a/x"].requests) == 1


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("sentence", sorted(set(FALLBACK_SENTENCES.values())))
def test_every_remark_names_both_models(sentence: Sentence, language: str) -> None:
    said = say(sentence, language, model="a/x", other="b/y")
    assert "a/x" in said
    assert "b/y" in said
