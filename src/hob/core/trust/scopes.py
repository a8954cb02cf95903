"""Scopes of tokens that are given out: chat, read, view, metrics, approve, admin."""

from enum import StrEnum


class TokenScope(StrEnum):
    """One thing it is valid for. `admin` holds all the others; `view` is `read` without what messages say."""

    CHAT = "chat"
    READ = "read"
    VIEW = "view"
    METRICS = "metrics"
    APPROVE = "approve"
    ADMIN = "admin"
