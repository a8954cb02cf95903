"""The prompt of a small model, and how a model's own limits bound its prompt."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.compaction.compaction import Compactor
from hob.agent.prompt.builder import PromptBuilder
from hob.agent.prompt.context_fitting import choose_tools
from hob.agent.prompt.context_room import ContextRoom
from hob.agent.prompt.system import Prompt
from hob.agent.prompt.tokens import keep_beginning
from hob.agent.settings import AgentSettings
from hob.core.ids import CallId
from hob.core.models import ModelProfile, ModelRequest, Price
from hob.core.steps import ModelAsked, ModelReplied, Step, ToolReceived
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.core.turns import Summary, TranscriptView
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.clock import ManualClock
from hob.testing.model import ScriptedModel
from tests.agent.prompting import MODEL, WEB, Files, builder, inbound, said, texts, turn

TOOLS = tuple(ToolSpec(f"tool{n}", "Does this and that. " * 3, {"type": "object", "properties": {}}) for n in range(12))
LONG = tuple(entry for n in range(30) for entry in said(f"t{n}", "question " * 50, "answer " * 80, n=2 * n))
FILES = Files(
    AGENTS="First rule.\n" + "More rules follow.\n" * 900 + "Last rule.", MEMORY="The owner likes tea.\n" * 900
)
SMALL = ModelProfile(small=True)


class Known:
    """Profiles given by the test."""

    def __init__(self, **profiles: ModelProfile) -> None:
        self._profiles = profiles

    def find_profile(self, model: str) -> ModelProfile:
        return self._profiles.get(model, ModelProfile())


class Unpriced:
    def max_output(self, model: str, request: ModelRequest) -> int:
        return request.max_output

    def find_price(self, model: str) -> Price | None:
        return None

    async def prepare(self, models: Sequence[str]) -> None: ...


def prompts(settings: AgentSettings | None = None, **profiles: ModelProfile) -> PromptBuilder:
    room = ContextRoom(Known(**profiles))
    return PromptBuilder(settings or AgentSettings(), ManualClock(), FILES, None, b"salt", room)


async def build(made: PromptBuilder, model: str, *steps: Step, view: TranscriptView | None = None) -> Prompt:
    view = view or TranscriptView(LONG, Summary(1, "before " * 2_000, MODEL), len(LONG))
    return await made.build(turn(inbound("What now?")), steps, view, TOOLS, model, patience=8)


async def test_small_model_gets_a_short_prompt_with_few_tools() -> None:
    prompt = await build(prompts(m=SMALL), "m")
    assert 1_500 < prompt.input_estimate <= prompt.limit == 3_000
    assert [tool.name for tool in prompt.request.tools] == ["tool0", "tool1", "tool2", "tool3", "tool4"]
    assert "What now?" in prompt.request.messages[-1].text
    assert "answer" in texts(prompt.request)


async def test_settings_limit_the_prompt_and_tools_of_small_models() -> None:
    settings = AgentSettings(small_prompt_tokens=2_000, small_tools=2)
    prompt = await build(prompts(settings, m=SMALL), "m")
    assert prompt.input_estimate <= 2_000
    assert len(prompt.request.tools) == 2


async def test_small_model_sees_the_beginning_of_the_files() -> None:
    system = (await build(prompts(m=SMALL), "m")).request.system
    assert "# AGENTS.md\n\nFirst rule.\nMore rules follow." in system
    assert "# MEMORY.md\n\nThe owner likes tea." in system
    assert "Last rule." not in system


async def test_another_models_prompt_does_not_change_by_a_byte() -> None:
    view = TranscriptView(LONG, None, len(LONG))
    plain = await builder(files=FILES).build(turn(inbound("Hi.")), (), view, TOOLS, "big", patience=8)
    beside = prompts(m=SMALL)
    await build(beside, "m")
    assert (await beside.build(turn(inbound("Hi.")), (), view, TOOLS, "big", patience=8)).request == plain.request


async def test_tools_used_by_the_turn_stay() -> None:
    call = ToolCall(CallId("c"), "tool9", "{}")
    steps = (ModelAsked("m", "", 1), ModelReplied("", (call,)), ToolReceived(ToolResult(call.id, "Done.", WEB)))
    prompt = await build(prompts(m=SMALL), "m", *steps)
    assert [tool.name for tool in prompt.request.tools] == ["tool0", "tool1", "tool2", "tool3", "tool9"]


async def test_turn_that_uses_only_offered_tools_keeps_its_prefix() -> None:
    made = prompts(m=SMALL)
    call = ToolCall(CallId("c"), "tool3", "{}")
    steps = (ModelAsked("m", "", 1), ModelReplied("", (call,)), ToolReceived(ToolResult(call.id, "Done.", WEB)))
    first, second = await build(made, "m", view=TranscriptView()), await build(made, "m", *steps, view=TranscriptView())
    assert (first.request.system, first.request.tools) == (second.request.system, second.request.tools)
    assert second.request.messages[:1] == first.request.messages


async def test_small_models_prefix_is_stable_across_turns() -> None:
    made = prompts(m=SMALL)
    same, before = 0, ("", "")
    for count in range(10, 30):
        view = TranscriptView(LONG[: 2 * count], None, 2 * count)
        request = (await build(made, "m", view=view)).request
        now = (request.system, request.messages[0].text)
        same += now == before
        before = now
    assert same >= 10


def test_tool_that_is_too_long_is_left_out() -> None:
    tools = (ToolSpec("long", "word " * 1_000, {}), ToolSpec("short", "word", {}))
    assert [tool.name for tool in choose_tools(tools, (), 5, 500)] == ["short"]


@pytest.mark.parametrize(
    ("profile", "prompt", "answer"),
    [
        (ModelProfile(), 128_000 - 4_096, 4_096),
        (ModelProfile(context_tokens=1_000_000), 128_000 - 4_096, 4_096),
        (ModelProfile(context_tokens=32_000), 32_000 - 4_096, 4_096),
        (ModelProfile(context_tokens=32_000, output_tokens=1_000), 31_000, 1_000),
        (ModelProfile(context_tokens=4_000), 3_000, 1_000),
        (ModelProfile(context_tokens=1, output_tokens=0), 1_984, 16),
        (ModelProfile(small=True), 3_000, 4_096),
        (ModelProfile(small=True, context_tokens=4_096), 3_000, 1_096),
        (ModelProfile(small=True, context_tokens=2_048), 1_536, 512),
    ],
)
def test_models_window_bounds_prompt_and_answer(profile: ModelProfile, prompt: int, answer: int) -> None:
    settings = AgentSettings()
    room = ContextRoom(Known(m=profile)).measure("m", settings, settings.max_tokens)
    assert (room.prompt, room.answer) == (prompt, answer)


async def test_window_of_the_model_bounds_its_prompt() -> None:
    prompt = await build(prompts(m=ModelProfile(context_tokens=8_000)), "m")
    assert prompt.input_estimate + prompt.request.max_tokens <= 8_000
    assert len(prompt.request.tools) == len(TOOLS)


def test_text_is_cut_at_the_end_of_a_line() -> None:
    assert keep_beginning("one\ntwo\nthree " + "x" * 100, 45) == "one\ntwo\n[… 114 characters in all]"
    assert keep_beginning("short", 10) == "short"
    assert [len(keep_beginning("x" * 100, limit)) for limit in (0, 5, 50)] == [0, 5, 50]


async def test_small_models_full_prompt_is_no_reason_for_a_summary(tmp_path: Path) -> None:
    profiles = Known(small=SMALL, narrow=ModelProfile(context_tokens=4_000))
    async with open_store(tmp_path, StoreSettings(), ManualClock()) as store:
        budget = Budget(SpendingSettings(), store.ledger, Unpriced(), ManualClock())
        compactor = Compactor(
            AgentSettings(),
            model=ScriptedModel(),
            transcript=store.transcript,
            budget=budget,
            clock=ManualClock(),
            context_room=ContextRoom(profiles),
        )
        view = TranscriptView((), None, 30)
        assert compactor.needed(view, 3_001, "small") is None
        assert compactor.needed(view, 3_001, "narrow") == "tokens"
        assert compactor.needed(view, 3_001, "big") is None
        assert compactor.needed(TranscriptView((), None, 41), 0, "small") == "messages"


async def test_message_that_does_not_fit_is_reported_with_the_missing_length() -> None:
    made = prompts(AgentSettings(max_tokens=500), tiny=ModelProfile(context_tokens=4_000, small=True))
    whole = "".join(f"line {n} of the report\n" for n in range(2_000))
    asked = turn(inbound(whole))
    prompt = await made.build(asked, (), TranscriptView((), None, 0), TOOLS, "tiny", patience=8)
    shown = prompt.request.messages[0].text
    count = int(shown.partition("[… ")[2].partition(" characters left out")[0])
    assert len(whole) - len(shown) < count <= len(whole)
    (remark,) = prompt.remarks
    assert dict(remark.values) == {"model": "tiny", "length": str(len(whole))}


async def test_message_that_fits_is_not_reported() -> None:
    assert (await build(prompts(small=SMALL), "small")).remarks == ()
