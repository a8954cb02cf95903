"""A summary replaces old messages; a failure changes nothing."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.compaction.compaction import Compacted, Compactor, NotCompacted
from hob.agent.compaction.summaries import HEADINGS, LAST_REQUEST
from hob.agent.settings import AgentSettings
from hob.core.errors import ModelError, ModelFault
from hob.core.events.timeline import EventKind
from hob.core.ids import CallId, SessionKey
from hob.core.models import ModelEvent, ModelReply, ModelRequest, Price, StopReason, TranscriptEntry, Usage
from hob.core.ports.model import Model
from hob.core.states import TurnState
from hob.core.tools import ToolCall
from hob.core.trust.labels import Trust
from hob.core.turns import Finish, TranscriptView
from hob.store.settings import StoreSettings
from hob.store.store import Store, open_store
from hob.testing.channel import message
from hob.testing.clock import ManualClock
from hob.testing.model import ScriptedModel
from tests.agent.prompting import MEMBER, MODEL, START, fetched, said
from tests.turns import SESSION, make_turn

SETTINGS = AgentSettings(window=4, compact_above=8)


class Known:
    def max_output(self, model: str, request: ModelRequest) -> int:
        return request.max_output

    def find_price(self, model: str) -> Price | None:
        return Price(1_000_000, 2_000_000, 0, 0)

    async def prepare(self, models: Sequence[str]) -> None: ...


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as opened:
        yield opened


def compactor(store: Store, model: Model, settings: AgentSettings = SETTINGS) -> Compactor:
    return Compactor(
        settings,
        model=model,
        transcript=store.transcript,
        budget=Budget(SpendingSettings(), store.ledger, Known(), ManualClock()),
        clock=ManualClock(),
    )


def summary(*, without: str = "", **sections: str) -> ModelReply:
    bodies = dict.fromkeys(HEADINGS, "none") | {"Goals": "Tea."} | sections
    text = "\n\n".join(f"## {heading}\n{body}" for heading, body in bodies.items() if heading != without)
    return ModelReply(text, usage=Usage(100, 50))


async def keep(store: Store, *turns: tuple[TranscriptEntry, ...]) -> TranscriptView:
    """Put these turns into the session's transcript."""
    for entries in turns:
        turn = await make_turn(store, message(entries[0].text))
        await store.journal.finish(Finish(turn.id, SESSION, TurnState.DONE, entries, (), ()))
    return await store.transcript.load_view(SESSION, 1_000)


def talk(count: int) -> list[tuple[TranscriptEntry, ...]]:
    return [said(f"t{number}", f"question {number}", f"answer {number}") for number in range(count)]


async def compact(made: Compactor, keep: int | None = None) -> Compacted | NotCompacted:
    return await made.compact(SESSION, reason="test", model="m", keep=keep)


async def test_last_messages_stay_verbatim(store: Store) -> None:
    await keep(store, *talk(6))
    done = await compact(compactor(store, ScriptedModel(summary())))
    assert isinstance(done, Compacted)
    assert done.messages == 8
    view = await store.transcript.load_view(SESSION, 100)
    assert [entry.text for entry in view.entries] == ["question 4", "answer 4", "question 5", "answer 5"]
    assert view.summary == done.summary
    assert done.summary.text.startswith("## Goals\nTea.")


async def test_turns_ending_during_a_compaction_do_not_start_another(store: Store) -> None:
    await keep(store, *talk(6))
    model = ScriptedModel(summary(), summary())
    made = compactor(store, model)
    first, second = await asyncio.gather(compact(made), compact(made))
    late = await made.compact(SESSION, reason="messages", model="m")
    assert isinstance(first, Compacted)
    assert isinstance(second, NotCompacted)
    assert isinstance(late, NotCompacted)
    assert len(model.requests) == 1


async def test_last_request_is_appended_verbatim(store: Store) -> None:
    await keep(store, *talk(6))
    done = await compact(compactor(store, ScriptedModel(summary())))
    assert isinstance(done, Compacted)
    assert done.summary.text.endswith(f"## {LAST_REQUEST}\nquestion 3")


async def test_summary_of_the_owners_private_session_contains_only_stubs_of_untrusted_text(
    store: Store,
) -> None:
    await keep(store, fetched("t0", "q", "evil", "as the web says"), *talk(5))
    model = ScriptedModel(summary())
    done = await compact(compactor(store, model))
    assert isinstance(done, Compacted)
    asked = model.requests[0].messages[0].text
    assert "evil" not in asked
    assert "as the web says" not in asked
    assert "4 characters left out; read_back(3)]" in asked
    assert done.summary.label.trust is Trust.TRUSTED


def by_a_member(entries: tuple[TranscriptEntry, ...]) -> tuple[TranscriptEntry, ...]:
    return (replace(entries[0], label=MEMBER), *entries[1:])


async def test_summary_of_a_shared_session_is_made_from_everything_and_untrusted(store: Store) -> None:
    await keep(store, by_a_member(fetched("t0", "q", "evil", "a")), *talk(5))
    model = ScriptedModel(summary())
    done = await compact(compactor(store, model))
    assert isinstance(done, Compacted)
    assert done.summary.label.trust is Trust.UNTRUSTED
    assert "from=web>\nevil\n</untrusted-" in model.requests[0].messages[0].text


async def test_summary_of_a_group_is_made_from_everything_whoever_wrote(store: Store) -> None:
    group = SessionKey("telegram:group:1")
    for entries in (fetched("t0", "q", "evil", "a"), *talk(5)):
        turn = await make_turn(store, message(entries[0].text))
        await store.journal.finish(Finish(turn.id, group, TurnState.DONE, entries, (), ()))
    done = await compactor(store, ScriptedModel(summary())).compact(group, reason="test", model="m")
    assert isinstance(done, Compacted)
    assert done.summary.label.trust is Trust.UNTRUSTED


async def test_trusted_after_untrusted_stays_untrusted(store: Store) -> None:
    await keep(store, *map(by_a_member, talk(6)))
    await compact(compactor(store, ScriptedModel(summary())))
    await keep(store, *map(by_a_member, talk(6)))
    model = ScriptedModel(summary())
    done = await compact(compactor(store, model))
    assert isinstance(done, Compacted)
    assert done.summary.label.trust is Trust.UNTRUSTED
    assert "Summary of what was said before:\n<untrusted-" in model.requests[0].messages[0].text


async def test_untrusted_summary_is_a_stub_in_the_owners_next_summary(store: Store) -> None:
    await keep(store, *map(by_a_member, talk(6)))
    await compact(compactor(store, ScriptedModel(summary(Goals="evil"))))
    await keep(store, *talk(8))
    await compact(compactor(store, ScriptedModel(summary())))
    await keep(store, *talk(8))
    model = ScriptedModel(summary())
    done = await compact(compactor(store, model))
    assert isinstance(done, Compacted)
    assert done.summary.label.trust is Trust.TRUSTED
    assert "evil" not in model.requests[0].messages[0].text


async def test_compaction_can_be_undone(store: Store) -> None:
    before = await keep(store, *talk(6))
    await compact(compactor(store, ScriptedModel(summary())))
    assert await store.transcript.undo_summary(SESSION)
    assert await store.transcript.load_view(SESSION, 1_000) == before
    assert not await store.transcript.undo_summary(SESSION)


BROKEN: list[ModelReply | ModelError | str] = [
    ModelError(ModelFault.OVERLOAD, "busy"),
    "I would rather not.",
    "",
    summary(without="Decisions"),
    ModelReply(summary().text, stop=StopReason.LENGTH),
]


@pytest.mark.parametrize("broken", BROKEN, ids=["error", "prose", "nothing", "a heading missing", "cut"])
async def test_failed_compaction_changes_nothing(store: Store, broken: ModelReply | ModelError | str) -> None:
    before = await keep(store, *talk(6))
    model = ScriptedModel(otherwise=broken)
    done = await compact(compactor(store, model))
    assert isinstance(done, NotCompacted)
    assert done.reason
    assert await store.transcript.load_view(SESSION, 1_000) == before
    assert len(model.requests) <= 2


async def test_bad_draft_is_retried_once_with_the_reason(store: Store) -> None:
    await keep(store, *talk(6))
    model = ScriptedModel(summary(without="Decisions"), summary())
    assert isinstance(await compact(compactor(store, model)), Compacted)
    assert "these sections are missing: Decisions" in model.requests[1].messages[0].text


async def test_identifiers_survive_verbatim_and_none_is_invented(store: Store) -> None:
    turns = talk(5)
    await keep(store, said("tx", "see /srv/tea/kettle.toml and PROJ-17", "done"), *turns)
    invented = summary(**{"Exact identifiers": "- /srv/invented/path.txt\n- PROJ-17"})
    model = ScriptedModel(otherwise=invented)
    done = await compact(compactor(store, model))
    assert isinstance(done, Compacted)
    assert len(model.requests) == 2
    assert "- PROJ-17\n- /srv/tea/kettle.toml" in done.summary.text
    assert "invented" not in done.summary.text


async def test_call_is_never_separated_from_its_result(store: Store) -> None:
    rounds: list[TranscriptEntry] = [TranscriptEntry(0, "user", "q", MODEL, "t1", START)]
    for number in range(9):
        call = ToolCall(CallId(f"c{number}"), "x", "{}")
        rounds.append(TranscriptEntry(0, "assistant", "", MODEL, "t1", START, calls=(call,)))
        rounds.append(TranscriptEntry(0, "tool", "r" * 5_000, MODEL, "t1", START, call=call.id))
    await keep(store, tuple(rounds))
    model = ScriptedModel(summary())
    assert isinstance(await compact(compactor(store, model), keep=3), Compacted)
    view = await store.transcript.load_view(SESSION, 100)
    assert view.entries[0].role == "assistant"
    assert len(view.entries) == 4
    assert len(model.requests[0].messages[0].text) < 8_000  # old results are shortened first


async def test_large_history_is_summarised_in_pieces(store: Store) -> None:
    await keep(store, *(said(f"t{number}", f"question {number} " + "word " * 600, "a") for number in range(20)))
    model = ScriptedModel(*(summary() for _ in range(20)))
    settings = AgentSettings(window=4, compact_above=8, context_tokens=8_000)
    done = await compact(compactor(store, model, settings))
    assert isinstance(done, Compacted)
    assert len(model.requests) > 2
    assert all(len(request.messages[0].text) < 32_000 for request in model.requests)
    assert "Summary of what was said before:" in model.requests[1].messages[0].text


async def test_short_session_is_left_alone(store: Store) -> None:
    await keep(store, *talk(2))
    assert isinstance(await compact(compactor(store, ScriptedModel())), NotCompacted)


class Meanwhile:
    """A model that takes long: something else happens before it answers."""

    def __init__(self, change: Callable[[], Awaitable[object]]) -> None:
        self._change = change

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        await self._change()
        yield summary()


async def test_session_reset_during_compaction_gets_no_summary(store: Store) -> None:
    await keep(store, *talk(6))
    model = Meanwhile(lambda: store.sessions.reset(SESSION, "/new"))
    assert await compact(compactor(store, model)) == NotCompacted("the session changed meanwhile")
    assert (await store.transcript.load_view(SESSION, 100)).summary is None


async def test_messages_arriving_during_compaction_are_not_lost(store: Store) -> None:
    await keep(store, *talk(6))
    model = Meanwhile(lambda: keep(store, said("t9", "late", "yes")))
    assert isinstance(await compact(compactor(store, model)), Compacted)
    view = await store.transcript.load_view(SESSION, 100)
    assert [entry.text for entry in view.entries][-2:] == ["late", "yes"]
    assert len(view.entries) == 6


async def test_every_call_is_accounted_for(store: Store) -> None:
    await keep(store, *talk(6))
    await compact(compactor(store, ScriptedModel(summary(without="Goals"), summary())))
    spent = await store.ledger.spent(session=SESSION)
    assert (spent.calls, spent.cost) == (2, 400)
    assert spent.usage == Usage(200, 100)


@pytest.mark.parametrize(
    ("total", "tokens", "reason"),
    [(8, 0, None), (9, 0, "messages"), (5, 100_000, "tokens"), (4, 100_000, None), (5, 90_000, None)],
)
async def test_compaction_is_needed_beyond_its_limits(
    store: Store, total: int, tokens: int, reason: str | None
) -> None:
    assert compactor(store, ScriptedModel()).needed(TranscriptView((), None, total), tokens) == reason


async def test_outline_replaces_messages_the_model_cannot_summarise(store: Store) -> None:
    """Regression: up to 5,000 messages were sent twice after every few turns, without result."""
    await keep(store, said("tx", "Keep /srv/tea/kettle.toml", "Kept."), *talk(5))
    model = ScriptedModel(otherwise="I would rather not.")
    done = await compactor(store, model).compact(SESSION, reason="messages", model="m")
    assert isinstance(done, Compacted)
    assert "- user: Keep /srv/tea/kettle.toml\n- assistant: Kept.\n- user: question 0" in done.summary.text
    assert "## Exact identifiers\n- /srv/tea/kettle.toml" in done.summary.text
    assert (done.summary.model, done.summary.label.trust) == ("", Trust.TRUSTED)
    assert (await store.transcript.load_view(SESSION, 100)).total == 4
    (event,) = [event for event in await store.timeline.latest(20) if event.kind is EventKind.COMPACTION]
    assert (event.status, "could not be used" in event.text) == ("outline", True)


async def test_model_that_cannot_summarise_is_asked_with_growing_back_off(store: Store) -> None:
    model = ScriptedModel(otherwise="no")
    made = compactor(store, model)
    asked = []
    for number in range(24):
        await keep(store, *talk(3))
        before = len(model.requests)
        done = await made.compact(SESSION, reason="messages", model="m")
        if isinstance(done, Compacted) and len(model.requests) > before:
            asked.append(number)
    gaps = [after - before for before, after in itertools.pairwise(asked)]
    assert gaps == sorted(gaps)
    assert gaps[-1] >= 3 * gaps[0]
    assert all(len(request.messages[0].text) < 8_000 for request in model.requests)
    assert isinstance(await made.compact(SESSION, reason="/compact", model="m"), NotCompacted)


async def test_unavailable_model_is_asked_again_later(store: Store) -> None:
    before = await keep(store, *talk(6))
    model = ScriptedModel(ModelError(ModelFault.OVERLOAD, "busy"), summary())
    made = compactor(store, model)
    assert isinstance(await made.compact(SESSION, reason="messages", model="m"), NotCompacted)
    assert await store.transcript.load_view(SESSION, 1_000) == before
    await keep(store, *talk(1))
    assert isinstance(await made.compact(SESSION, reason="messages", model="m"), NotCompacted)
    assert len(model.requests) == 1
    await keep(store, *talk(1))
    assert isinstance(await made.compact(SESSION, reason="messages", model="m"), Compacted)


async def test_compaction_reads_no_more_than_one_summary_can_cover(store: Store) -> None:
    await keep(store, *(said(f"t{number}", "word " * 1_600, "a") for number in range(80)))
    model = ScriptedModel(otherwise=summary())
    done = await compactor(store, model).compact(SESSION, reason="messages", model="m")
    assert isinstance(done, Compacted)
    assert sum(len(request.messages[0].text) for request in model.requests) < 500_000
    assert "still older messages are stored" in done.summary.text


async def test_outline_of_an_outline_stays_short(store: Store) -> None:
    made = compactor(store, ScriptedModel(otherwise="no"))
    for _ in range(30):
        await keep(store, *(said(f"t{number}", "a long question " * 50, "and answer " * 50) for number in range(6)))
        done = await made.compact(SESSION, reason="messages", model="m")
        assert isinstance(done, Compacted)
        assert len(done.summary.text) < 9_000
