"""The dashboard on phones: the port behind the routes."""

from typing import NamedTuple, Protocol, TypedDict


class PhoneChoice(TypedDict):
    """An address where the dashboard could be open to phones.

    at: the value for `dashboard.phone`
    name: the name by which phones would reach it
    problem: why it cannot be opened there now; empty if it can
    """

    at: str
    name: str
    problem: str


class PhoneAnswer(TypedDict):
    """Where phones reach the dashboard.

    wanted: the setting `dashboard.phone`
    address: where it is open; empty if it is not
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
    seconds: how long it is valid
    authority: as in `GET`
    """

    url: str
    address: str
    qr: list[str]
    seconds: float
    authority: str


class PhoneAddress(NamedTuple):
    """The dashboard's address for phones. `authority`: the SHA-256 of a certificate they have to install first, or
    empty.
    """

    url: str
    authority: str = ""


class Phone(Protocol):
    """The dashboard's address for phones, if the owner wants one."""

    async def address(self) -> PhoneAddress:
        """Return its current address once it is known. Raises NotFound if not wanted, NotReady with the reason."""

    async def view(self) -> PhoneAnswer:
        """Return the setting, the current state, and the possible addresses."""

    def authority(self) -> bytes | None:
        """Return the certificate (PEM) of Hob's own authority, if there is one. It is public."""
