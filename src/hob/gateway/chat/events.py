"""What clients see of a message's life."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ClientEvent:
    """One moment: accepted, delta, reasoning, retracted, progress, question, and last result or error."""

    name: str
    data: dict[str, Any]
