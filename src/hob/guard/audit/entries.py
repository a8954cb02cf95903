"""Audit log entries in one form: admissions, decisions, approvals, rate limits.

The fields that are kept for ever contain only Hob's own words: kinds, outcomes, rules, classes, ids. Anything that
names a person or may contain text written by someone is in the detail, which can be erased.
"""

import json
from enum import StrEnum

from hob.core.trust.labels import SenderClass
from hob.guard.admission.events import (
    AdmissionEvent,
    LoopDetected,
    PairingAsked,
    PassphraseTried,
    Scanned,
    SenderRefused,
    SlowedDown,
)
from hob.store.approvals import Approval
from hob.store.audit.audit import AuditEntry
from hob.store.decisions import PolicyDecision


class AuditKind(StrEnum):
    """The subject of an entry."""

    DECISION = "decision"
    APPROVAL = "approval"
    AUTHENTICATION = "authentication"
    ADMISSION = "admission"
    RATE = "rate"
    SCAN = "scan"
    ACTION = "action"
    AUDIT = "audit"


HOB = "hob"
"""The actor of entries that no person caused."""


def of_decision(decision: PolicyDecision, sender: SenderClass, trace: str = "") -> AuditEntry:
    """Entry for a verdict on a call. Records only the hash of its arguments."""
    detail = _detail(call=decision.call, hash=decision.hash, reason=decision.reason)
    return AuditEntry(
        AuditKind.DECISION, decision.tool, decision.verdict, decision.rule, sender, decision.turn, trace, detail,
        decision.at,
    )  # fmt: skip


def of_approval(approval: Approval, outcome: str = "") -> AuditEntry:
    """Entry for an approval question (`open`), its answer, its use or its end. Records only the hash of the question as
    shown.
    """
    detail = _detail(
        id=approval.id,
        call=approval.call,
        hash=approval.hash,
        requester=approval.requester,
        by=approval.by,
        scope=approval.scope,
        note=approval.note,
    )
    by = SenderClass.OWNER if approval.by else HOB
    return AuditEntry(
        AuditKind.APPROVAL, approval.tool, outcome or approval.state, approval.rule, by, approval.turn, detail=detail
    )


def of_authentication(where: str, outcome: str, who: str = "") -> AuditEntry:
    """Entry for a login (`api`, `passphrase`, `pairing`): `right`, `wrong`, `too_often`."""
    return AuditEntry(AuditKind.AUTHENTICATION, where, outcome, detail=_detail(who=who))


def of_action(name: str, outcome: str, sender: SenderClass | str, *, turn: str = "", target: str = "") -> AuditEntry:
    """Entry for a sensitive action, done or failed: settings changed, people linked, content erased, a backup
    restored.
    """
    return AuditEntry(AuditKind.ACTION, name, outcome, sender=sender, turn=turn, detail=_detail(target=target))


def of_rate(app: str, outcome: str, sender: SenderClass, who: str = "") -> AuditEntry:
    """Entry for a rate limit on actions: `slowed_down`, `cooled_down`."""
    return AuditEntry(AuditKind.RATE, app, outcome, sender=sender, detail=_detail(who=who))


def of_admission(event: AdmissionEvent) -> AuditEntry:
    """Entry for a decision of admission."""
    stranger = SenderClass.STRANGER
    match event:
        case PairingAsked(request):
            return AuditEntry(
                AuditKind.ADMISSION, "pairing", "asked", sender=stranger, detail=_detail(who=str(request.address))
            )
        case PassphraseTried(address, outcome):
            return of_authentication("passphrase", outcome, str(address))
        case SlowedDown(address, wait):
            detail = _detail(who=str(address), seconds=round(wait, 1))
            return AuditEntry(AuditKind.RATE, "messages", "slowed_down", detail=detail)
        case LoopDetected(address, seconds):
            detail = _detail(who=str(address), seconds=round(seconds, 1))
            return AuditEntry(AuditKind.RATE, "loop", "cooled_down", detail=detail)
        case SenderRefused(address, reason):
            return AuditEntry(AuditKind.ADMISSION, "message", "turned_away", reason, detail=_detail(who=str(address)))
        case Scanned(inbound, action, findings):
            detail = _detail(who=f"{inbound.origin.channel}:{inbound.sender.id}", findings=", ".join(findings))
            return AuditEntry(AuditKind.SCAN, "message", action, trace=inbound.trace, detail=detail)


def _detail(**values: str | float) -> str:
    return json.dumps({name: value for name, value in values.items() if value != ""}, ensure_ascii=False)
