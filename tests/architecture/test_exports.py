"""What each package exports, name by name: a wider API is a visible line in a diff."""

from importlib import import_module

import pytest

EXPORTS = {
    "hob.agent": """
        AgentSettings Budget Compacted Compactor ContextRoom Driver Hooks Inspector Leeway NotCompacted Parts
        Prompt PromptBuilder ReadingBack Scale Section SlashCommands SpendingSettings TakenBack named_key reset_due
        session_of thread_session zone_of
    """,
    "hob.bus": """
        Acceptor Bus BusContext BusSettings ChannelDirectory Courier Hub Lanes Questions Signal
        Subscription run_bus
    """,
    "hob.config": """
        Config ConfigInvalid Layer Place Problem Source UnknownKey find_home load_config process_environment
        reference set_value set_values unset_value
    """,
    "hob.providers": """
        Choice Media ModelProfiles ModelSettings PriceList PriceSetting PriceTable ProviderSettings Routing
        load_libraries open_media open_model open_prices
    """,
    "hob.store": """
        Approval Approvals AuditEntry AuditLog AuditRow Bound Checked Compared Decisions Division Erasure FileBlobs
        ForeignFile Grant Health IllegalMove Imports Inbox InboxCounts InboxLimits Outbox OutboxAge OutboxCounts
        OutboxRow PastEntry PolicyDecision Rebuilt Recovered Result Store StoreSettings StoredChannelState StoredJournal
        StoredLedger StoredPeople StoredSessions StoredSettings StoredTranscript TaskRow Tasks Timeline TurnCounts
        TurnRow TurnRows Waiting Whose check_projections open_foreign open_store rebuild_projections restore
    """,
    "hob.testing": """
        AllowAll Cut End Fault FaultyDisk FunctionTools ManualClock MemoryChannel ModelServer
        ObedientModel Outside Reply ScriptedModel Silence SpoolChannel calls check_channel check_describer
        check_embedder check_model check_speaker check_toolset check_transcriber memory_store message tool
    """,
    "hob.workspace": """
        AcceptedFiles BootstrapFiles WorkspaceSettings make_work_repository seed
    """,
}


@pytest.mark.parametrize("package", EXPORTS)
def test_a_package_exports_what_is_listed_here(package: str) -> None:
    module = import_module(package)
    assert sorted(module.__all__) == EXPORTS[package].split()


@pytest.mark.parametrize("package", EXPORTS)
def test_every_exported_name_is_there(package: str) -> None:
    module = import_module(package)
    assert [name for name in module.__all__ if getattr(module, name, None) is None] == []
