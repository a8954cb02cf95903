"""The settings that can change while Hob runs."""

AT_RUN_TIME = ("logs", "backups", "retention", "model", "mcp", "policy")
"""Sections that can change while Hob runs. So can secrets of every section."""
KEYS_AT_RUN_TIME = frozenset(
    {
        "approvals.seconds",
        "approvals.use_seconds",
        "dashboard.phone",
        "delivery.silent_channels",
        "delivery.silent_mode",
        "memory.background_tokens",
        "memory.citations",
        "memory.max_items",
        "memory.recall",
        "spending.daily",
        "spending.daily_tokens",
        "spending.monthly",
        "spending.per_session",
        "spending.per_turn",
        "workspace.search_path",
        "workspace.work_repo",
        "spending.warn_at",
    }
)
"""Keys of other sections that can change."""
FROM_THE_START = frozenset({"model.embedding", "model.reranking"})
"""Keys of those sections that cannot: semantic search is opened at start."""


def holds_at_run_time(key: str) -> bool:
    """Return whether a running Hob applies a new value of this setting on reload."""
    return (key.partition(".")[0] in AT_RUN_TIME or key in KEYS_AT_RUN_TIME) and key not in FROM_THE_START
