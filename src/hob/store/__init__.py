"""The one SQLite file and everything in it. All SQL is here."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # names are loaded when first used, so that settings and words cost no database
    from hob.store.approvals import Approval as Approval
    from hob.store.approvals import Approvals as Approvals
    from hob.store.approvals import Bound as Bound
    from hob.store.approvals import Grant as Grant
    from hob.store.audit import AuditEntry as AuditEntry
    from hob.store.audit import AuditLog as AuditLog
    from hob.store.audit import AuditRow as AuditRow
    from hob.store.backup import restore as restore
    from hob.store.blobs import FileBlobs as FileBlobs
    from hob.store.chain import Checked as Checked
    from hob.store.channel_state import StoredChannelState as StoredChannelState
    from hob.store.decisions import Decisions as Decisions
    from hob.store.decisions import PolicyDecision as PolicyDecision
    from hob.store.erasure import Erasure as Erasure
    from hob.store.erasure import Whose as Whose
    from hob.store.foreign import ForeignFile as ForeignFile
    from hob.store.foreign import open_foreign as open_foreign
    from hob.store.imports import Imports as Imports
    from hob.store.imports import PastEntry as PastEntry
    from hob.store.inbox import Inbox as Inbox
    from hob.store.inbox import InboxCounts as InboxCounts
    from hob.store.inbox import InboxLimits as InboxLimits
    from hob.store.inbox import Result as Result
    from hob.store.inbox import Waiting as Waiting
    from hob.store.journal import StoredJournal as StoredJournal
    from hob.store.ledger import Division as Division
    from hob.store.ledger import StoredLedger as StoredLedger
    from hob.store.moves import IllegalMove as IllegalMove
    from hob.store.outbox import Outbox as Outbox
    from hob.store.outbox import OutboxAge as OutboxAge
    from hob.store.outbox import OutboxCounts as OutboxCounts
    from hob.store.outbox import OutboxRow as OutboxRow
    from hob.store.people import StoredPeople as StoredPeople
    from hob.store.rebuild import Compared as Compared
    from hob.store.rebuild import Rebuilt as Rebuilt
    from hob.store.rebuild import check_projections as check_projections
    from hob.store.rebuild import rebuild_projections as rebuild_projections
    from hob.store.sessions import StoredSessions as StoredSessions
    from hob.store.settings import StoreSettings as StoreSettings
    from hob.store.store import Health as Health
    from hob.store.store import Store as Store
    from hob.store.store import open_store as open_store
    from hob.store.stored_settings import StoredSettings as StoredSettings
    from hob.store.tasks import TaskRow as TaskRow
    from hob.store.tasks import Tasks as Tasks
    from hob.store.timeline import Timeline as Timeline
    from hob.store.transcript import StoredTranscript as StoredTranscript
    from hob.store.turns import Recovered as Recovered
    from hob.store.turns import TurnCounts as TurnCounts
    from hob.store.turns import TurnRow as TurnRow
    from hob.store.turns import TurnRows as TurnRows

_HOMES = {
    "approvals": ("Approval", "Approvals", "Bound", "Grant"),
    "audit": ("AuditEntry", "AuditLog", "AuditRow"),
    "backup": ("restore",),
    "blobs": ("FileBlobs",),
    "chain": ("Checked",),
    "channel_state": ("StoredChannelState",),
    "decisions": ("Decisions", "PolicyDecision"),
    "erasure": ("Erasure", "Whose"),
    "foreign": ("ForeignFile", "open_foreign"),
    "imports": ("Imports", "PastEntry"),
    "inbox": ("Inbox", "InboxCounts", "InboxLimits", "Result", "Waiting"),
    "journal": ("StoredJournal",),
    "ledger": ("Division", "StoredLedger"),
    "moves": ("IllegalMove",),
    "outbox": ("Outbox", "OutboxAge", "OutboxCounts", "OutboxRow"),
    "people": ("StoredPeople",),
    "rebuild": ("Compared", "Rebuilt", "check_projections", "rebuild_projections"),
    "sessions": ("StoredSessions",),
    "settings": ("StoreSettings",),
    "store": ("Health", "Store", "open_store"),
    "stored_settings": ("StoredSettings",),
    "tasks": ("TaskRow", "Tasks"),
    "timeline": ("Timeline",),
    "transcript": ("StoredTranscript",),
    "turns": ("Recovered", "TurnCounts", "TurnRow", "TurnRows"),
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_WHERE)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
