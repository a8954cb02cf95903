"""What a token that was given out is good for."""

from enum import StrEnum


class TokenScope(StrEnum):
    """One thing it is good for. `admin` holds all the others."""

    CHAT = "chat"
    READ = "read"
    METRICS = "metrics"
    APPROVE = "approve"
    ADMIN = "admin"
