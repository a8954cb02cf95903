"""The dashboard where phones reach it: the port behind the routes."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class PhoneAddress(NamedTuple):
    """Where phones reach the dashboard. `authority`: what they have to install once, its SHA-256; empty: nothing."""

    url: str
    authority: str = ""


class Phone(Protocol):
    """Where the dashboard is open to phones, if the owner wants that."""

    async def address(self) -> PhoneAddress:
        """Where it is open now, once that is known. Raises NotFound where it is not wanted, Unready with the reason."""

    async def view(self) -> Mapping[str, Any]:
        """What is wanted, how it is, and where it could be."""

    def authority(self) -> bytes | None:
        """The certificate (PEM) of Hob's own authority, if there is one. It is for everybody."""
