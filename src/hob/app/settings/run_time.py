"""Which settings may change while Hob runs."""

AT_RUN_TIME = ("logs", "backups", "retention", "model", "mcp")
"""The sections that may change while Hob runs; so may every secret, whatever its section."""
KEYS_AT_RUN_TIME = frozenset(
    {
        "approvals.seconds",
        "approvals.use_seconds",
        "dashboard.phone",
        "delivery.silent_channels",
        "delivery.silent_mode",
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
"""Keys of other sections that may."""
FROM_THE_START = frozenset({"model.embedding", "model.reranking"})
"""Keys of those sections that may not: what memory finds by meaning is opened when Hob starts."""


def holds_at_run_time(key: str) -> bool:
    """Whether a running Hob takes up another value of this setting when it reads its settings again."""
    return (key.partition(".")[0] in AT_RUN_TIME or key in KEYS_AT_RUN_TIME) and key not in FROM_THE_START
