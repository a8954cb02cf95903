"""The port of live views."""

from typing import Protocol

from hob.core.events.notices import Notice


class Notices(Protocol):
    """Where notices go."""

    def publish(self, notice: Notice) -> None:
        """Show it to anyone who looks. Never blocks, never raises."""
