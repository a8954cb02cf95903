"""Decisions of the policy: what was allowed or refused, and by which rule."""

from hob.core.ids import CallId, TurnId
from hob.core.values import dataclass
from hob.store.audit.audit import AuditedPart, AuditEntry

_INSERT = (
    "INSERT INTO policy_decisions (turn, call, tool, hash, verdict, rule, reason, at, tier)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_SELECT = "SELECT turn, call, tool, hash, verdict, rule, reason, at, tier FROM policy_decisions"


@dataclass(frozen=True, slots=True)
class PolicyDecision:
    """The verdict on one call: `allow`, `ask` or `deny`. `hash` is its command hash, `tier` its severity."""

    turn: TurnId
    call: CallId
    tool: str
    hash: str
    verdict: str
    rule: str
    reason: str = ""
    at: float = 0.0
    tier: int | None = None


class PolicyDecisions(AuditedPart):
    """The verdicts, in commit order."""

    async def add(self, decision: PolicyDecision, *entries: AuditEntry) -> None:
        """Record a verdict and its audit entries; a time of 0 means now."""
        d = decision
        at = d.at or self._now()
        values = (d.turn, d.call, d.tool, d.hash, d.verdict, d.rule, d.reason, at, d.tier)
        await self._audit.write(lambda connection: connection.execute(_INSERT, values).fetchall(), lambda _: entries)

    async def find(self, turn: TurnId, command: str | None = None) -> tuple[PolicyDecision, ...]:
        """Return the verdicts of a turn, on one command hash if given."""
        where, values = ("", (turn,)) if command is None else (" AND hash = ?", (turn, command))
        sql = f"{_SELECT} WHERE turn = ?{where} ORDER BY seq"
        rows = await self._rows(sql, values)
        return tuple(PolicyDecision(TurnId(turn), CallId(call), *rest) for turn, call, *rest in rows)
