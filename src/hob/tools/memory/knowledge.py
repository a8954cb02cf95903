"""The tools over what is known: `facts`, `correct_fact`."""

from datetime import UTC, datetime

from hob.core.argument_roles import ArgumentRole
from hob.core.errors import InvalidRequest, NotFound, ToolFailed
from hob.core.memory import Fact, FactState
from hob.core.ports.tools import CallContext
from hob.core.tools import Effect, Restart, Tier
from hob.core.trust.labels import HOB_LABEL, OWNER_LABEL, Label, Origin
from hob.core.turns import scope_of
from hob.tools.memory.ports import KnownFacts
from hob.tools.registry.declaration import ToolOutput, Tools, tool

_PERSISTS = frozenset({Effect.PERSISTS})
_READS = frozenset({Effect.READS_PRIVATE})
_MOST = 100
_ID = 12


class KnowledgeTools:
    """Tells and puts right what is known of the owner. Whose turn it is not is told of nothing."""

    def __init__(self, facts: KnownFacts) -> None:
        self._facts = facts
        self.toolset = Tools(self.facts, self.correct_fact)

    @tool(tier=Tier.READ, effects=_READS, restart=Restart.AGAIN, parallel=True, roles=ArgumentRole(plain=("about",)))
    async def facts(self, context: CallContext, about: str = "") -> ToolOutput:
        """List what is known of the owner (about: only with this word), each with its id and the words it is from."""
        wanted, found = about.casefold(), await self._facts.known(scope_of(context.turn))
        known = [fact for fact in found if wanted in _text(fact).casefold()]
        sure = [fact for fact in known if fact.state is not FactState.ASKED]
        lines = [_line(fact) for fact in sure[:_MOST]]
        if more := len(sure) - len(lines):
            lines.append(f"[{more} more; name a word]")
        if unsure := len(known) - len(sure):
            lines.append(f"[{unsure} more are not sure: the owner confirms them with /memory]")
        return ToolOutput("\n".join(lines) or "(nothing)", Label(Origin.TOOL, OWNER_LABEL.trust))

    @tool(
        tier=Tier.WRITE,
        effects=_PERSISTS,
        restart=Restart.NEVER,
        label=HOB_LABEL,
        roles=ArgumentRole(things=("id",), plain=("right",), says="change what is known of you: {id} is {right}"),
    )
    async def correct_fact(self, id: str, context: CallContext, right: str = "") -> str:
        """Put a fact right that the owner says is wrong; right: what is so, in their words (empty: it is not so)."""
        said = "\n".join(inbound.text for inbound in (*context.turn.inbounds, *context.turn.joined))
        try:
            before, after = await self._facts.correct(id, right, said, scope_of(context.turn))
        except (NotFound, InvalidRequest) as error:
            raise ToolFailed(f"{error}.") from error
        now = "; ".join(_text(fact) for fact in after) or "nothing"
        back = (after[0] if after else before).id[:_ID]
        return f"No longer known: {_text(before)}. Instead: {now}. To undo: /memory undo {back}"


def _text(fact: Fact) -> str:
    return f"{fact.subject} {fact.predicate.replace('_', ' ')} {fact.object}"


def _line(fact: Fact) -> str:
    said = "put right by the owner" if fact.state is FactState.CORRECTED else "said"
    told = [
        fact.id[:_ID],
        *([f"since {_day(fact.valid_from)}"] if fact.valid_from is not None else []),
        f"{said} {_day(fact.at)}" + (f": \u201c{fact.quote}\u201d" if fact.quote else ""),
        *([f"from {fact.evidence[0][:_ID]}"] if fact.evidence else []),
    ]
    return f"- {_text(fact)} [{', '.join(told)}]"


def _day(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d}"
