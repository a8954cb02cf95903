"""An endpoint in one file: `GET /sundial` tells the hour to a token that may read."""

from hob.plugin import Endpoints, Lazy, Subsystem


@Lazy
def _endpoints() -> Endpoints:
    from hob_sundial.routes import ENDPOINTS  # with the HTTP server alone

    return ENDPOINTS


SUNDIAL = Subsystem(name="sundial", one_shot=True, endpoints=_endpoints)
