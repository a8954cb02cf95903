"""Facts and goals of the owner."""

from hob.app.memory.parts import MemoryParts
from hob.core.errors import InvalidRequest, NotFound
from hob.core.memory import OWNER, FactAction, Goal, GoalAnswer, GoalNote, GoalState, Scope
from hob.core.translation.language import translatable
from hob.core.trust.labels import OWNER_LABEL
from hob.gateway.memory import FactsAnswer, FactsQuery, GoalsAnswer, SetGoalRequest, SettledFactAnswer
from hob.memory.facts.contradictions import contradicted
from hob.memory.facts.decisions import is_valid_at
from hob.memory.views import fact_view, goal_view
from hob.store.memory.goals import fact_of


class OwnerFacts:
    """Implements the gateway's `FactControl`."""

    def __init__(self, parts: MemoryParts) -> None:
        self._store, self._clock = parts.kernel.store, parts.kernel.clock
        self._editor = parts.editor
        self._scope = Scope(OWNER)

    async def facts(self, criteria: FactsQuery) -> FactsAnswer:
        """Return the matching facts with their evidence and contradictions."""
        facts, at = self._store.facts, criteria.valid_at or criteria.known_at or self._clock.now().timestamp()
        if criteria.known_at:
            found = await facts.known_at(self._scope, criteria.known_at)
        else:
            found = await (facts.recorded(self._scope) if criteria.ever else facts.known(self._scope))
        found = [fact for fact in found if criteria.past or is_valid_at(fact, at)]
        against = contradicted(found)
        return {"facts": [fact_view(fact, against.get(fact.id, ())) for fact in found]}

    async def settle(self, id: str, action: FactAction, right: str = "") -> SettledFactAnswer:
        """Change the fact whose id starts so. Raises NotFound, InvalidRequest."""
        try:
            before, after = await self._editor.settle(id, action, right, self._scope)
        except NotFound as unknown:
            if action is not FactAction.UNDO:
                raise
            try:
                goal, left = await self._store.goals.turn_back(self._scope, id)
            except NotFound:
                raise unknown from None
            before, after = fact_of(goal), [fact_of(left)] if left else []
        return {"before": fact_view(before), "after": [*map(fact_view, after)]}

    async def goals(self, *, closed: bool) -> GoalsAnswer:
        """Return the goals with their notes; with `closed` also those that are done or dropped."""
        known, now = await self._store.goals.goals(self._scope), self._clock.now().timestamp()
        return {"goals": [goal_view(goal, now) for goal in known if closed or goal.state is GoalState.OPEN]}

    async def set_goal(self, change: SetGoalRequest) -> GoalAnswer:
        """Add or change a goal. Raises InvalidRequest, NotFound."""
        goals, now, text = self._store.goals, self._clock.now().timestamp(), " ".join(change.text.split())
        stored = [state.value for state in GoalState if state is not GoalState.STALLED]
        if change.state and change.state not in stored:
            raise InvalidRequest(translatable("a goal's state is one of {states}", states=", ".join(stored)))
        if not change.id:
            if not text:
                raise InvalidRequest(translatable("the text is empty"))
            if change.state or change.note:
                raise InvalidRequest(
                    translatable("a state and a note need the id of a goal; `hob memory goals` lists them")
                )
            return goal_view(await goals.add(self._scope, Goal(text=text, label=OWNER_LABEL, due=change.due)), now)
        note = GoalNote(" ".join(change.note.split())) if change.note.strip() else None
        state = GoalState(change.state) if change.state else None
        return goal_view(await goals.change(self._scope, change.id, state, change.due, note, OWNER_LABEL), now)
