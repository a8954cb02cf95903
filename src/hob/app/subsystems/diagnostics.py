"""What `hob doctor` and `hob security audit` look at."""

from hob.app.subsystem import Checks, Subsystem
from hob.core.lazy import Lazy
from hob.guard.audit.security.settings import SecuritySettings


@Lazy
def _checks() -> Checks:
    from hob.app.diagnostics.checks import CHECKS

    return CHECKS


DOCTOR = Subsystem(name="doctor", checks=_checks)
SECURITY = Subsystem(name="security", settings={"security": SecuritySettings})
