"""Phone access to the dashboard, opened and closed at run time, with timely certificate renewal."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.bus.waiting import wait_for_event
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.errors import HobError, NotConfigured, NotFound, NotReady
from hob.core.events.tracing import CONTENT_FREE
from hob.core.lazy import Lazy
from hob.core.translation.language import translatable
from hob.gateway.dashboard.settings import DashboardSettings
from hob.gateway.phone import Phone, PhoneAddress, PhoneAnswer, PhoneChoice
from hob.gateway.settings import GatewaySettings

log = logging.getLogger(__name__)

FOLDER, AUTHORITY = "phone", "hob-ca.crt"
CHECK_SECONDS = 12 * 3600.0
"""Seconds between certificate checks."""
RETRY_SECONDS = 60.0
"""Seconds before another attempt to open: the network may be up later."""


class GivenCertificate(NamedTuple):
    """`gateway.tls_cert` and `gateway.tls_key`; without a key, the certificate's file holds it."""

    certificate: Path
    key: Path | None = None


class PhonePlace(NamedTuple):
    """A listening address, the host name for phones, and a certificate with its key.

    The key is in a file of its own or in the certificate's. `authority` is the SHA-256 of the authority that phones
    have to install first; empty if they already trust it.
    """

    host: str
    name: str
    certificate: Path
    key: Path | None = None
    authority: str = ""


Listen: TypeAlias = Callable[[PhonePlace, ssl.SSLContext], AbstractAsyncContextManager[int]]
"""Serves the dashboard at a place while the block is open; yields the port. Raises NotReady."""


@Lazy
def _find_place() -> Callable[[str, Path, Mapping[str, str], GivenCertificate | None], PhonePlace]:
    from hob.app.phone.places import find_place

    return find_place


@Lazy
def _choices() -> Callable[[Mapping[str, str], GivenCertificate | None], list[PhoneChoice]]:
    from hob.app.phone.places import choices

    return choices


@asynccontextmanager
async def open_phone(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Create phone access. The daemon, which has the listeners, opens it."""
    access = PhoneAccess(kernel.config, kernel.environ, kernel.clock)
    yield Contribution(provides={Phone: access, PhoneAccess: access}, on_settings=access.reconfigure)


class PhoneAccess:
    """Implements `Phone`."""

    def __init__(self, config: Config, environ: Mapping[str, str], clock: Clock) -> None:
        self._wanted = config[DashboardSettings].phone
        self._folder = config.home / FOLDER
        gateway = config[GatewaySettings]
        self._given = None if gateway.tls_cert is None else GivenCertificate(gateway.tls_cert, gateway.tls_key)
        self._environ = environ
        self._clock = clock
        self._open: PhoneAddress | None = None
        self._problem: HobError | None = None
        self._changed = asyncio.Event()
        self._known = asyncio.Event()
        """Set once it is known whether the listener could be opened."""

    def reconfigure(self, config: Config) -> None:
        """Open, close or move the listener according to the settings."""
        if config[DashboardSettings].phone != self._wanted:
            self._wanted, self._problem = config[DashboardSettings].phone, None
            self._known.clear()
            self._changed.set()

    async def address(self) -> PhoneAddress:
        if not self._wanted:
            told = translatable(
                "no phone can reach the dashboard; `hob dashboard --phone` shows possible addresses, and `hob "
                "dashboard --phone --at PLACE` opens it at one"
            )
            raise NotFound(told)
        await self._known.wait()
        if self._open is None:
            raise self._problem or NotFound()
        return self._open

    async def view(self) -> PhoneAnswer:
        if self._wanted:
            await self._known.wait()
        opened = self._open or PhoneAddress("")
        return {
            "wanted": self._wanted,
            "address": opened.url,
            "authority": opened.authority,
            "problem": str(self._problem) if self._problem is not None else "",
            "choices": await asyncio.to_thread(_choices(), self._environ, self._given),
        }

    def authority(self) -> bytes | None:
        with suppress(OSError):
            return (self._folder / AUTHORITY).read_bytes()
        return None

    async def run(self, listen: Listen) -> None:
        """Keep the listener open as configured, until cancelled."""
        while True:
            self._changed.clear()
            if not self._wanted:
                await self._changed.wait()
                continue
            try:
                place = await self._place()
                tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                tls.load_cert_chain(place.certificate, place.key)
                async with listen(place, tls) as port:
                    name = f"[{place.name}]" if ":" in place.name else place.name
                    self._open, self._problem = PhoneAddress(f"https://{name}:{port}", place.authority), None
                    self._known.set()
                    log.info("phones reach the dashboard at %s", self._open.url, extra=CONTENT_FREE)
                    await self._renew_until_changed(place, tls)
            except (NotConfigured, OSError) as error:
                self._problem = error if isinstance(error, HobError) else NotReady(str(error))
                self._known.set()
                log.warning("phones cannot reach the dashboard: %s", error, extra=CONTENT_FREE)
                await wait_for_event(self._changed, self._clock, RETRY_SECONDS)
            finally:
                self._open = None

    async def _renew_until_changed(self, place: PhonePlace, tls: ssl.SSLContext) -> None:
        """Renew the certificate until the settings or the address change."""
        while not await wait_for_event(self._changed, self._clock, CHECK_SECONDS):
            try:
                now = await self._place()
                tls.load_cert_chain(now.certificate, now.key)
            except (NotConfigured, OSError) as error:
                log.error("the certificate for phones stays as it was: %s", error)
            else:
                if now != place:
                    return

    async def _place(self) -> PhonePlace:
        return await asyncio.to_thread(_find_place(), self._wanted, self._folder, self._environ, self._given)
