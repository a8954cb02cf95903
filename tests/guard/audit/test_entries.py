"""Audit entries: permanent fields name nobody and contain no text written by anybody."""

from dataclasses import astuple, replace

import pytest

from hob.core.ids import ApprovalId, CallId, SessionKey, TurnId, digest
from hob.core.states import ApprovalState
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import PairingRequest, SenderAddress
from hob.guard.admission.events import LoopDetected, PairingAsked, PassphraseTried, Scanned, SenderRefused, SlowedDown
from hob.guard.audit.entries import of_action, of_admission, of_approval, of_authentication, of_decision, of_rate
from hob.store.approvals import Approval
from hob.store.audit.audit import AuditEntry
from hob.store.decisions import PolicyDecision
from hob.testing.channel import message
from hob.testing.memory_store import memory_store

NUMBER = "+491701234567"
WHO = SenderAddress("signal", NUMBER)
ARGUMENTS = "rm -rf /srv"
DECISION = PolicyDecision(TurnId("t_1"), CallId("c_1"), "exec", digest(ARGUMENTS), "deny", "hard.disk", NUMBER, 1.0)
APPROVAL = Approval(
    ApprovalId("a_1"), TurnId("t_1"), CallId("c_1"), "exec", digest(ARGUMENTS), SessionKey("signal:x"), "a reason", 1.0,
    2.0, ARGUMENTS, state=ApprovalState.ALLOWED, by=str(WHO), rule="mode.risk", requester=str(WHO),
)  # fmt: skip
INBOUND = message(f"call me at {NUMBER}")

ENTRIES = [
    of_decision(DECISION, SenderClass.OWNER),
    of_approval(APPROVAL),
    of_approval(replace(APPROVAL, by=""), "expired"),
    of_authentication("api", "wrong", NUMBER),
    of_action("people.link", "done", SenderClass.OWNER, target=NUMBER),
    of_rate("mail", "cooled_down", SenderClass.MEMBER, NUMBER),
    of_admission(PairingAsked(PairingRequest("ABCD2345", WHO, "Jo", 1.0, 2.0))),
    of_admission(PassphraseTried(WHO, "wrong")),
    of_admission(SlowedDown(WHO, 3.0)),
    of_admission(LoopDetected(WHO, 3.0)),
    of_admission(SenderRefused(WHO, "dm_policy")),
    of_admission(Scanned(INBOUND, "block", ("override",))),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.kind}.{entry.name}.{entry.outcome}")
def test_permanent_audit_fields_name_nobody(entry: AuditEntry) -> None:
    stays = " ".join(map(str, astuple(replace(entry, detail=""))))
    assert "49170" not in stays
    assert entry.kind
    assert entry.outcome


def test_approval_and_decision_entries_contain_only_the_arguments_hash() -> None:
    for entry in ENTRIES[:3]:
        assert digest(ARGUMENTS) in entry.detail
        assert ARGUMENTS not in entry.detail
    assert "ABCD2345" not in ENTRIES[6].detail


async def test_every_kind_of_entry_is_stored_in_one_chain() -> None:
    async with memory_store() as store:
        await store.audit.add(*ENTRIES)
        assert (await store.audit.verify()).whole
        rows = await store.audit.latest(50)
    assert [row.entry for row in rows] == [
        replace(entry, at=row.entry.at) for entry, row in zip(ENTRIES, rows, strict=True)
    ]
    assert {row.entry.kind for row in rows} >= {"decision", "approval", "authentication", "rate", "action", "scan"}
