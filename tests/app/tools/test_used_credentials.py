"""The audit log says which command used which credential, and what was refused."""

import json

from hob.app.tools.runtime import _note_host
from hob.testing.memory_store import memory_store
from hob.tools.sandbox.network.hosts import HostDecision
from tests.tools.calling import context


async def test_use_of_a_credential_is_in_the_audit_log_without_the_secret() -> None:
    async with memory_store() as store:
        for allowed, why in ((True, ""), (False, "it was used too often within a minute (per_minute)")):
            await _note_host(store, context(), HostDecision("api.example.org", 443, allowed, why, "github"))
        await _note_host(store, context(), HostDecision("api.example.org", 443, True, "allowed"))
        rows = await store.audit.latest(3)
        assert [(row.entry.name, row.entry.outcome) for row in rows] == [
            ("credential", "used"),
            ("credential", "refused"),
            ("network", "reached"),
        ]
        assert json.loads(rows[0].detail or "") == {"target": "github api.example.org:443"}
