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
