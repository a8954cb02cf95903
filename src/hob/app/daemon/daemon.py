"""The daemon: signals, listeners, and draining at the end."""

import asyncio
import logging
import resource
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from socket import socket

from hob.app.composition import App, open_app
from hob.app.daemon.drain import drain
from hob.app.daemon.service_notifier import ServiceNotifier
from hob.app.home import socket_of
from hob.app.phone.access import PhoneAccess, PhonePlace
from hob.app.subsystem import Subsystem, api_v1_of, endpoints_of
from hob.app.subsystems import SUBSYSTEMS
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.errors import NotConfigured, NotReady
from hob.core.events.tracing import CONTENT_FREE
from hob.core.lazy import Lazy
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.gateway.api import Api
from hob.gateway.dashboard.settings import DashboardSettings
from hob.gateway.http.asgi import ASGIApp, LazyApp, build_api
from hob.gateway.http.certificates import load_tls, renew_certificate
from hob.gateway.http.listener import MAX_CONNECTIONS, TURNED_AWAY, serve
from hob.gateway.http.sockets import bind_tcp, bind_unix
from hob.gateway.phone import Phone
from hob.gateway.routes.table import ENDPOINTS
from hob.gateway.settings import GatewaySettings
from hob.providers.opening import load_libraries
from hob.providers.routing.choice import ModelChoice

log = logging.getLogger(__name__)

ENOUGH = 65_536
"""Open files and connections of this process."""

MAX_PAGES = 200
"""Simultaneous browser connections."""
GRACE_SECONDS = 2.0
"""Time at shutdown for answers in progress; requests no longer wait for turns by then."""


class StopSignal:
    """Set once to stop gently, twice to stop at once."""

    def __init__(self) -> None:
        self.gentle = asyncio.Event()
        self.forced = asyncio.Event()

    def __call__(self) -> None:
        if self.gentle.is_set():
            self.forced.set()
        self.gentle.set()


async def run_daemon(
    home: Path,
    config: Config,
    *,
    subsystems: Iterable[Subsystem] = SUBSYSTEMS,
    on_ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve the API and run everything, earlier work included, until SIGTERM or SIGINT. The caller holds the lock.

    The first signal drains: nothing new is accepted, and running turns have `bus.drain_seconds` to end. The second
    stops at once. Either way accepted work is kept. An error in any part drains too, then propagates. SIGHUP reloads
    settings and secrets.
    """
    stop = StopSignal()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    descriptors = raise_limit()
    supervisor = ServiceNotifier(process_environment())
    gateway = config[GatewaySettings]
    with (
        TcpListener.opened(gateway) as tcp,
        TcpListener.opened(gateway, config[DashboardSettings].port_beside(gateway), "dashboard.port") as pages,
    ):
        url = tcp.url if tcp is not None else ""
        async with (
            open_app(home, config, subsystems=subsystems, address=url, dashboard=pages.url if pages else "") as app,
            serve_api(app, tcp, pages, descriptors=descriptors),
            supervisor.heartbeat(app.api.clock),
        ):
            loop.add_signal_handler(signal.SIGHUP, app.services.reloading)
            on_ready(url)
            supervisor.send("READY=1", f"STATUS=Ready: {url or socket_of(home)}")
            try:
                await asyncio.to_thread(_preload_libraries, app.kernel.choice)
                await stop.gentle.wait()
            finally:
                supervisor.send("STOPPING=1", "STATUS=Running turns may end")
                await drain(app, stop.forced)


@dataclass(frozen=True, slots=True)
class TcpListener:
    """A bound TCP socket, its TLS context if any, and its URL."""

    socket: socket
    tls: ssl.SSLContext | None
    url: str

    @classmethod
    @contextmanager
    def opened(
        cls, settings: GatewaySettings, port: int | None = None, setting: str = "gateway.port"
    ) -> Iterator["TcpListener | None"]:
        """Bind the API's port, or another setting's; yield None if the port is disabled (negative).

        Raises NotConfigured and NotReady.
        """
        port = settings.port if port is None else port
        if port < 0:
            yield None
            return
        tls = load_tls(settings)
        with bind_tcp(settings.host, port, setting) as bound:
            host, port = bound.getsockname()[:2]
            here = ip_address(host.partition("%")[0]).is_loopback
            if not (here or tls or settings.proxied_from_elsewhere):
                log.warning(
                    "the API can be reached from other machines without TLS: set gateway.tls_cert", extra=CONTENT_FREE
                )
            yield cls(bound, tls, f"http{'s' if tls else ''}://{f'[{host}]' if ':' in host else host}:{port}")


@asynccontextmanager
async def serve_locally(app: App, listener: socket) -> AsyncIterator[None]:
    """Serve the API on this Unix socket, whose callers are the owner."""
    api = Lazy(partial(_build_api, app, local=True))
    async with serve(
        LazyApp(api), [listener], grace=GRACE_SECONDS, message_bytes=app.config[GatewaySettings].body_bytes
    ):
        yield


@asynccontextmanager
async def serve_api(
    app: App, tcp: TcpListener | None = None, pages: TcpListener | None = None, *, descriptors: int = 1_024
) -> AsyncIterator[None]:
    """Serve the API on `hob.sock` and `tcp`, and the dashboard on `pages`.

    TCP connections use at most half of the `descriptors`, so that the socket, files and commands always have some.
    """
    path = socket_of(app.home)
    async with AsyncExitStack() as stack:
        unix_socket = bind_unix(path)
        stack.callback(path.unlink, missing_ok=True)
        await stack.enter_async_context(serve_locally(app, unix_socket))
        if tcp is not None:
            api = _build_api(app, local=False)
            maximum = min(MAX_CONNECTIONS, descriptors // 2 - TURNED_AWAY)
            await stack.enter_async_context(_serve_tcp(tcp, api, app, maximum, descriptors))
        if pages is not None:
            maximum = min(MAX_PAGES, descriptors // 8)
            page = LazyApp(Lazy(partial(_build_pages, app, app.api)))
            await stack.enter_async_context(_serve_tcp(pages, page, app, maximum, descriptors))
            await stack.enter_async_context(_serve_phones(app, pages, maximum))
        yield


@asynccontextmanager
async def _serve_tcp(tcp: TcpListener, api: ASGIApp, app: App, maximum: int, descriptors: int) -> AsyncIterator[None]:
    settings = app.config[GatewaySettings]
    with ExitStack() as stack:
        if tcp.tls is not None:
            renew = partial(_reload_certificate, tcp.tls, settings)
            stack.enter_context(app.kernel.signals.settings.subscribed(lambda _: renew()))
        async with serve(
            api,
            [tcp.socket],
            grace=GRACE_SECONDS,
            tls=tcp.tls,
            proxies=settings.trusted_proxies,
            message_bytes=settings.body_bytes,
            max_connections=maximum,
            turned_away=min(TURNED_AWAY, descriptors // 8),
        ):
            yield


@asynccontextmanager
async def _serve_phones(app: App, pages: TcpListener, maximum: int) -> AsyncIterator[None]:
    """Serve the dashboard to phones while the owner wants it: the same port at one more address."""
    access = app.api.ports.get(PhoneAccess)
    if not isinstance(access, PhoneAccess):
        yield
        return
    settings, port = app.config[GatewaySettings], pages.socket.getsockname()[1]

    @asynccontextmanager
    async def listen(place: PhonePlace, tls: ssl.SSLContext) -> AsyncIterator[int]:
        api = replace(app.api, settings=replace(settings, hosts=[*settings.hosts, place.name]))
        page = LazyApp(Lazy(partial(_build_pages, app, api)))
        try:
            bound = bind_tcp(place.host, port)
        except NotConfigured as error:
            reason = getattr(error.__cause__, "strerror", "")
            told = translatable(
                "Hob cannot listen at {host}:{port} now: {reason}", host=place.host, port=port, reason=reason
            )
            raise NotReady(told) from error
        with bound:
            async with serve(
                page, [bound], grace=GRACE_SECONDS, tls=tls, message_bytes=settings.body_bytes, max_connections=maximum
            ):
                yield port

    async with asyncio.TaskGroup() as group:
        running = group.create_task(access.run(listen))
        yield
        running.cancel()


def _build_api(app: App, *, local: bool) -> ASGIApp:
    return build_api(app.api, local=local, endpoints=ENDPOINTS, more=partial(endpoints_of, app.features.subsystems))


def _build_pages(app: App, api: Api) -> ASGIApp:
    from hob.gateway.dashboard.canvas import canvas_frames
    from hob.gateway.dashboard.files import FRAMED, PackageFiles, authority_file  # loaded with the first page request

    pages: dict[str, ASGIApp] = {}
    for each in app.features.subsystems:
        pages |= {files.path: PackageFiles(files.package, files.folder) for files in each.static_files}
        pages |= {f"/views/{view.name}/": PackageFiles(view.package, view.folder, FRAMED) for view in each.views}
    pages |= canvas_frames()
    pages["/hob-ca.crt/"] = authority_file(api.port(Phone).authority)
    return build_api(api, local=False, endpoints=api_v1_of(app.features.subsystems), pages=pages)


def _preload_libraries(choice: ModelChoice) -> None:
    try:
        load_libraries(choice)
    # no file can be opened: the libraries are loaded later, when they are needed
    except (OSError, ImportError) as error:
        log.error("libraries could not be loaded beforehand: %s", error)


def _reload_certificate(context: ssl.SSLContext, settings: GatewaySettings) -> None:
    try:
        renew_certificate(context, settings)
    except NotConfigured as error:
        log.error("the certificate stays as it was: %s", error)


def set_up_logging(level: int = logging.INFO) -> None:
    """Log to standard error, without the text of messages."""
    logging.basicConfig(stream=sys.stderr, level=level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


def raise_limit() -> int:
    """Raise the limit of open files and connections to `ENOUGH` or as far as permitted. Return the limit in effect.

    Shells and systemd set 1,024 for programs that use `select`; Hob does not.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return ENOUGH if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError) as error:  # macOS has another limit
        log.info("the limit of open files stays at %d: %s", soft, error)
        return soft
    return wanted
