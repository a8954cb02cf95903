"""The dashboard: the page for browsers and its API."""

from hob.app.subsystem import Endpoints, KeptFiles, Open, StaticFiles, Subsystem
from hob.core.lazy import Lazy
from hob.gateway.dashboard.settings import DashboardSettings


@Lazy
def _open() -> Open:
    from hob.app.phone.access import open_phone

    return open_phone


@Lazy
def _endpoints() -> Endpoints:
    from hob.gateway.routes.dashboard import ENDPOINTS

    return ENDPOINTS


@Lazy
def _api_v1() -> Endpoints:
    from hob.gateway.dashboard.table import ENDPOINTS

    return ENDPOINTS


DASHBOARD = Subsystem(
    name="dashboard",
    settings={"dashboard": DashboardSettings},
    endpoints=_endpoints,
    api_v1=_api_v1,
    static_files=(StaticFiles("/", "hob.gateway"),),
    files=(KeptFiles("phone", "certificates and keys by which phones reach the dashboard; made again when needed"),),
    open=_open,
)
