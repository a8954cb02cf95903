"""The checks of `hob doctor` and `hob security audit`."""

from hob.app.diagnostics.settings import SecuritySettings
from hob.app.subsystem import Checks, Endpoints, Open, Subsystem
from hob.core.lazy import Lazy


@Lazy
def _checks() -> Checks:
    from hob.app.diagnostics.checks import CHECKS

    return CHECKS


@Lazy
def _audit() -> Checks:
    from hob.app.diagnostics.checks.security import AUDIT

    return AUDIT


@Lazy
def _api_v1() -> Endpoints:
    from hob.gateway.dashboard.administration import ENDPOINTS

    return ENDPOINTS


@Lazy
def _open() -> Open:
    from hob.app.diagnostics.opening import open_administration

    return open_administration


DOCTOR = Subsystem(name="doctor", checks=_checks, api_v1=_api_v1, open=_open)
SECURITY = Subsystem(name="security", checks=_audit, settings={"security": SecuritySettings})
