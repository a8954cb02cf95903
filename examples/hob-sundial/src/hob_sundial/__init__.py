"""An endpoint, a check and a page: `GET /sundial` returns the hour to a token that may read; the dashboard shows it."""

from hob.plugin import Checks, DashboardView, Endpoints, Lazy, Subsystem


@Lazy
def _endpoints() -> Endpoints:
    from hob_sundial.routes import ENDPOINTS  # loaded with the HTTP server only

    return ENDPOINTS


@Lazy
def _checks() -> Checks:
    from hob_sundial.weather import CHECKS  # loaded with `hob doctor` only

    return CHECKS


@Lazy
def _api_v1() -> Endpoints:
    from hob_sundial.routes import API_V1

    return API_V1


SUNDIAL = Subsystem(
    name="sundial",
    one_shot=True,
    endpoints=_endpoints,
    api_v1=_api_v1,
    views=(DashboardView("sundial", "Sundial", "hob_sundial", asks=("/api/v1/sundial",)),),
    checks=_checks,
)
