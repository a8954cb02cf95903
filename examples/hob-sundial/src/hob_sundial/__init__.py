"""An endpoint and a check in two files: `GET /sundial` tells the hour to a token that may read."""

from hob.plugin import Checks, Endpoints, Lazy, Subsystem


@Lazy
def _endpoints() -> Endpoints:
    from hob_sundial.routes import ENDPOINTS  # with the HTTP server alone

    return ENDPOINTS


@Lazy
def _checks() -> Checks:
    from hob_sundial.weather import CHECKS  # with `hob doctor` alone

    return CHECKS


SUNDIAL = Subsystem(name="sundial", one_shot=True, endpoints=_endpoints, checks=_checks)
