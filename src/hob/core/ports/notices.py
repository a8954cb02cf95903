"""Port of live views."""

from typing import Protocol

from hob.core.events.notices import Notice


class Notices(Protocol):
    """Receiver of notices."""

    def publish(self, notice: Notice) -> None:
        """Show the notice to all live views. Never blocks, never raises."""
