"""Sub-agents whose results a conversation of one request would lose by ending now."""

from dataclasses import replace

from hob.agent.turn.client_terms import terms_of
from hob.agent.turn.run_state import TurnRun
from hob.agent.turn.turn import ABOUT_UNAWAITED, Say
from hob.core.ids import ONE_TURN_PREFIX
from hob.core.states import TurnState
from hob.core.steps import Noted
from hob.core.translation.sentences import Sentence, say

_WAIT = (
    "Your answer was not shown. Sub-agents that you began are still at work, and this conversation ends with your "
    "answer: wait for their results with sessions_yield, or end them with subagents, then answer."
)


async def mind_unawaited(run: TurnRun, end: Say) -> Say | Noted:
    """Return the end of the turn, or a note that asks the model to wait for its sub-agents.

    If they are still not awaited, the answer names them, except in a client's JSON. Raises StoreErrors.
    """
    deps, state, session = run.deps, run.record.state, run.turn.session
    settled = state.said is not None or end.state is TurnState.CANCELLED
    if settled or deps.unawaited is None or not session.startswith(ONE_TURN_PREFIX):
        return end
    at_work = await deps.unawaited(session)
    may_wait = end.state is not TurnState.FAILED and state.rounds < deps.settings.max_rounds
    if at_work and may_wait and ABOUT_UNAWAITED not in state.warned:
        return Noted(_WAIT, ABOUT_UNAWAITED)
    if not at_work or end.state is TurnState.SILENT or terms_of(run.turn).form is not None:
        return end
    listed = (f"- {label}: `hob sessions show {key}`" for key, label in at_work.items())
    told = say(Sentence.SUBAGENTS_LEFT, deps.settings.language)
    return replace(end, text="\n".join((f"{end.text}\n\n{told}", *listed)))
