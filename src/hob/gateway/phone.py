"""The dashboard where phones reach it: the port behind the routes."""

from typing import NamedTuple, Protocol, TypedDict


class PhoneChoice(TypedDict):
    """Where the dashboard could be open to phones.

    at: what `dashboard.phone` would be
    name: by which name phones would call it
    problem: why it cannot be opened there now; empty where it can
    """

    at: str
    name: str
    problem: str


class PhoneAnswer(TypedDict):
    """Where phones reach the dashboard.

    wanted: the setting `dashboard.phone`
    address: where it is open; empty where it is not
    authority: the SHA-256 of the certificate that phones have to install first; empty: none
    problem: why it is not open where it should be
    """

    wanted: str
    address: str
    authority: str
    problem: str
    choices: list[PhoneChoice]


class PhoneLinkAnswer(TypedDict):
    """A link that signs a phone's browser in, once.

    qr: its QR code: rows of 0 (light) and 1 (dark)
    seconds: how long it is good
    authority: as in `GET`
    """

    url: str
    address: str
    qr: list[str]
    seconds: float
    authority: str


class PhoneAddress(NamedTuple):
    """Where phones reach the dashboard. `authority`: what they have to install once, its SHA-256; empty: nothing."""

    url: str
    authority: str = ""


class Phone(Protocol):
    """Where the dashboard is open to phones, if the owner wants that."""

    async def address(self) -> PhoneAddress:
        """Where it is open now, once that is known. Raises NotFound where it is not wanted, Unready with the reason."""

    async def view(self) -> PhoneAnswer:
        """What is wanted, how it is, and where it could be."""

    def authority(self) -> bytes | None:
        """The certificate (PEM) of Hob's own authority, if there is one. It is for everybody."""
