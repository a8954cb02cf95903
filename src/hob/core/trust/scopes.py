"""Scopes of API tokens: chat, read, view, metrics, approve, admin."""

from enum import StrEnum


class TokenScope(StrEnum):
    """One permission of a token. `admin` includes all others; `view` is `read` without message contents."""

    CHAT = "chat"
    READ = "read"
    VIEW = "view"
    METRICS = "metrics"
    APPROVE = "approve"
    ADMIN = "admin"
