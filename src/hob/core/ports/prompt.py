"""What features add to prompts."""

from typing import Protocol

from hob.core.labels import Label
from hob.core.turns import Turn


class PromptSection(Protocol):
    """A named part of prompts besides Hob's own.

    What is `cached` stands at the beginning, as it was when the session began or was compacted last, so that a
    provider's cache can hold it; until `epoch` is another number, since something of it is to be shown no longer. All
    else belongs to the newest message, as it is when the turn begins.
    """

    @property
    def name(self) -> str:
        """As `hob prompt` shows it."""
        ...

    @property
    def cached(self) -> bool:
        """Whether it stands at the beginning."""
        ...

    @property
    def epoch(self) -> int:
        """Another number than before: what was written for this session earlier does not hold any more."""
        ...

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        """The text for the senders and the session of this turn; None: nothing. Never raises.

        Untrusted text stands between marks with the turn's messages, and taints. A preview's turn has no message.
        """
        ...
