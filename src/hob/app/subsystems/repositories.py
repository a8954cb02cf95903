"""The owner's repositories in the dashboard."""

from hob.app.subsystem import Endpoints, Open, Subsystem
from hob.core.lazy import Lazy


@Lazy
def _open() -> Open:
    from hob.app.repositories.opening import open_repositories

    return open_repositories


@Lazy
def _api_v1() -> Endpoints:
    from hob.gateway.dashboard.repo import ENDPOINTS

    return ENDPOINTS


REPOSITORIES = Subsystem(name="repositories", api_v1=_api_v1, open=_open)
