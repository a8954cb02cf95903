"""The tools `facts`, `correct_fact`, `get_goals`, `create_goal` and `update_goal`."""

from datetime import UTC, datetime
from typing import Literal

from hob.core.clock import utc_day
from hob.core.errors import InvalidCall, InvalidRequest, NotFound, ToolFailed
from hob.core.memory import Fact, FactState, Goal, GoalNote, GoalState, is_private
from hob.core.ports.tools import CallContext
from hob.core.translation.fact_words import render_fact
from hob.core.trust.labels import HOB_LABEL, OWNER_LABEL, Label, Origin, Trust, combine_trust
from hob.core.turns import Turn, memory_scope
from hob.tools.memory.ports import Goals, KnownFacts
from hob.tools.memory.specs import CORRECT_FACT, CREATE_GOAL, FACTS, GET_GOALS, UPDATE_GOAL
from hob.tools.registry.declaration import ToolOutput, Tools, implements

_MAX = 100
_LONGEST = 500
_ID = 12


class KnowledgeTools:
    """Lists and corrects facts and goals. Each person sees only their own."""

    def __init__(self, facts: KnownFacts, goals: Goals) -> None:
        self._facts = facts
        self._goals = goals
        self.toolset = Tools(self.facts, self.correct_fact, self.get_goals, self.create_goal, self.update_goal)

    @implements(FACTS)
    async def facts(self, context: CallContext, about: str = "") -> ToolOutput:
        wanted, found = about.casefold(), await self._facts.known(memory_scope(context.turn))
        known = [fact for fact in found if wanted in _text(fact).casefold()]
        sure = [fact for fact in known if fact.state is not FactState.ASKED]
        lines = [_line(fact) for fact in sure[:_MAX]]
        if more := len(sure) - len(lines):
            lines.append(f"[{more} more; name a word]")
        if unsure := len(known) - len(sure):
            lines.append(f"[{unsure} more are not sure: the owner confirms them with /memory]")
        return ToolOutput("\n".join(lines) or "(nothing)", Label(Origin.TOOL, OWNER_LABEL.trust))

    @implements(CORRECT_FACT, HOB_LABEL)
    async def correct_fact(self, id: str, context: CallContext, right: str = "") -> str:
        if right:
            _refuse_private(context.turn)
        people = (*context.turn.inbounds, *context.turn.joined)
        own = [each.text for each in people if each.label == OWNER_LABEL and not each.background]
        if people and not own:
            raise ToolFailed("the owner did not ask for that in this turn.")
        try:
            before, after = await self._facts.correct(id, right, "\n".join(own), memory_scope(context.turn))
        except (NotFound, InvalidRequest) as error:
            raise ToolFailed(f"{error}.") from error
        now = "; ".join(_text(fact) for fact in after) or "nothing"
        back = (after[0] if after else before).id[:_ID]
        return f"No longer known: {_text(before)}. Instead: {now}. To undo: /memory undo {back}"

    @implements(GET_GOALS)
    async def get_goals(self, context: CallContext, closed: bool = False) -> ToolOutput:
        known = await self._goals.goals(memory_scope(context.turn))
        shown = [goal for goal in known if closed or goal.state is GoalState.OPEN][:_MAX]
        lines = [line for goal in shown for line in _goal_lines(goal)]
        trust = combine_trust(goal.label for goal in shown)
        if not all(note.trusted for goal in shown for note in goal.evidence):
            trust = Trust.UNTRUSTED
        return ToolOutput("\n".join(lines) or "(nothing)", Label(Origin.TOOL, trust))

    @implements(CREATE_GOAL, HOB_LABEL)
    async def create_goal(self, goal: str, context: CallContext, due: str = "") -> str:
        turn, text = context.turn, " ".join(goal.split())
        if not 0 < len(text) <= _LONGEST:
            raise InvalidCall(f"a goal has 1 to {_LONGEST} characters.")
        _refuse_private(turn)
        label = Label(Origin.MODEL, context.trust)
        wanted = Goal(text=text, label=label, due=_moment(due), session=turn.session, turn=turn.id)
        return _goal_lines(await self._goals.add(memory_scope(turn), wanted))[0]

    @implements(UPDATE_GOAL, HOB_LABEL)
    async def update_goal(
        self,
        id: str,
        context: CallContext,
        state: Literal["", "open", "done", "dropped"] = "",
        due: str = "",
        evidence: str = "",
    ) -> str:
        _refuse_private(context.turn)
        note = GoalNote(" ".join(evidence.split())[:_LONGEST]) if evidence.strip() else None
        label = Label(Origin.MODEL, context.trust)
        wanted = GoalState(state) if state else None
        try:
            goal = await self._goals.change(memory_scope(context.turn), id, wanted, _moment(due), note, label)
        except NotFound as error:
            raise InvalidCall(f"{error}; get_goals lists them.") from error
        return _goal_lines(goal)[0]


def _refuse_private(turn: Turn) -> None:
    """Raise InvalidCall in a private conversation."""
    if is_private(turn.session):
        raise InvalidCall("this conversation is private: nothing of it is remembered.")


def _goal_lines(goal: Goal) -> list[str]:
    due = f", due {utc_day(goal.due)}" if goal.due is not None else ""
    trust = "" if goal.label.trusted else ", untrusted"
    head = f"- {goal.text} [{goal.id[:_ID]}, {goal.state}{due}, last changed {utc_day(goal.changed)}{trust}]"
    return [head, *(f"  {utc_day(note.at)}: {note.text}" for note in goal.evidence)]


def _moment(day: str) -> float | None:
    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() if day else None
    except ValueError as error:
        raise InvalidCall(f"{day} is no day; write it as 2026-11-22.") from error


def _text(fact: Fact) -> str:
    return render_fact(fact.subject, fact.predicate, fact.object)


def _line(fact: Fact) -> str:
    said = "put right by the owner" if fact.state is FactState.CORRECTED else "said"
    told = [
        fact.id[:_ID],
        *([f"since {utc_day(fact.valid_from)}"] if fact.valid_from is not None else []),
        f"{said} {utc_day(fact.at)}" + (f": \u201c{fact.quote}\u201d" if fact.quote else ""),
        *([f"from {fact.evidence[0][:_ID]}"] if fact.evidence else []),
    ]
    return f"- {_text(fact)} [{', '.join(told)}]"
