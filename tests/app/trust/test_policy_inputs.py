"""What the judge is told of a turn, and what it costs."""

from collections.abc import Sequence
from typing import Any, cast

from hob.app.trust.policy_inputs import TurnPolicyInputs
from hob.core.ids import CallId, SessionKey, TurnId
from hob.core.steps import ModelAsked, Step, ToolIntended, ToolReceived
from hob.core.tools import Effect, Restart, ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import Label, Origin, Trust
from hob.core.turns import Session, TranscriptView
from hob.guard.policy.call_analysis import ArgumentReader
from hob.guard.policy.commands import command_reader
from hob.guard.policy.places import Places
from hob.guard.settings import PolicySettings
from hob.tools.browser.specs import BROWSER_TOOL
from tests.guard.judge_bench import turn_of

WEB = Label(Origin.WEB, Trust.UNTRUSTED)


class Rows:
    """Implements what is asked of `Journal`, `Sessions` and `Transcript`; `read` counts steps."""

    def __init__(self, steps: list[Step]) -> None:
        self.steps = steps
        self.read = 0

    async def load_steps(self, turn: TurnId, since: int = 0) -> tuple[Step, ...]:
        found = tuple(self.steps[since:])
        self.read += len(found)
        return found

    async def get(self, key: SessionKey) -> Session:
        return Session(key)

    async def load_view(self, session: SessionKey, at_most: int) -> TranscriptView:
        return TranscriptView()


def made(number: int) -> tuple[Step, ...]:
    call = ToolCall(CallId(f"c{number}"), "fetch", "{}")
    return ToolIntended(call, Restart.AGAIN, "r"), ToolReceived(ToolResult(call.id, "found", WEB))


def inputs_over(rows: Rows) -> TurnPolicyInputs:
    places = Places("/state", "/home", "/work", "/home")
    store = cast(Any, rows)

    def nothing(*_: object) -> Sequence[Any]:
        return ()

    return TurnPolicyInputs(
        PolicySettings(), store, store, store, ArgumentReader(places, command_reader(places)),
        dict, store, nothing, dict, nothing,
    )  # fmt: skip


async def test_steps_of_a_turn_are_read_once_for_all_judged_calls() -> None:
    rows = Rows([ModelAsked("priced", "", 1, trust=Trust.TRUSTED)])
    inputs = inputs_over(rows)
    writing = ToolSpec("write", "", {}, effects=frozenset({Effect.WRITES}))
    for number in range(50):
        rows.steps += made(number)
        told = await inputs.policy_input(turn_of("go on"), writing)
        assert (told.model, len(told.untrusted_sources)) == ("priced", 1)
    assert rows.read == len(rows.steps)


async def test_elements_of_the_page_shown_last_are_known_by_reference() -> None:
    first = '- button "Back" [ref=e3]\n- link "Terms" [ref=e4] [cursor=pointer]:'
    last = '- generic [ref=e2]:\n  - button "Pay now" [ref=e3]\n  - textbox "Name" [active] [ref=e5]: Jane\n'
    rows = Rows([])
    for number, told in enumerate((first, last + "  - list [ref=e6]")):
        call = ToolCall(CallId(f"c{number}"), "browser", "{}")
        rows.steps += (ToolIntended(call, Restart.AGAIN, "r"), ToolReceived(ToolResult(call.id, told, WEB)))
    found = (await inputs_over(rows).policy_input(turn_of("buy it"), BROWSER_TOOL)).elements
    named = {"e3": "button 'Pay now'", "e4": "link 'Terms'", "e5": "textbox 'Name'", "e6": "list e6"}
    assert {ref: found[ref] for ref in named} == named
