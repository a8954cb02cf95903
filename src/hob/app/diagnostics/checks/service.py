"""Checks of the service, if one is installed."""

from collections.abc import Iterator
from pathlib import Path

from hob.app.diagnostics.check import Check, CheckResult, critical, info, warn
from hob.app.diagnostics.context import CheckSkipped, DiagnosticContext
from hob.app.service.plan import make_plan
from hob.bus.settings import BusSettings
from hob.core.translation.language import translatable

_AGAIN = translatable("`hob service install` repairs it")


def _require_service(diagnostics: DiagnosticContext) -> None:
    if not diagnostics.service_manager.file.exists():
        raise CheckSkipped("no service is installed")
    if diagnostics.service_manager.home() != str(diagnostics.home):
        raise CheckSkipped("the service is for another home")


def _other_home(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    service_manager = diagnostics.service_manager
    if service_manager.file.exists() and service_manager.home() != str(diagnostics.home):
        told = (
            translatable("the service is for another home: {home}", home=service_manager.home())
            if service_manager.home()
            else "the service was not written by Hob"
        )
        yield info(told, "nothing to do, if that is meant; `hob service status` shows it", str(service_manager.file))


def _program(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    _require_service(diagnostics)
    if not Path(diagnostics.service_manager.program() or "/").is_file():
        yield critical("the service starts a program that is gone", _AGAIN, diagnostics.service_manager.program())


def _differs(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    _require_service(diagnostics)
    plan = make_plan(diagnostics.home, diagnostics.environ, diagnostics.config[BusSettings].drain_seconds)
    if not diagnostics.service_manager.is_current(plan):
        yield info("this Hob would write the service otherwise", _AGAIN, str(diagnostics.service_manager.file))


def _down(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    _require_service(diagnostics)
    if obstacle := diagnostics.service_manager.obstacle():
        raise CheckSkipped(obstacle)
    state = diagnostics.service_manager.state()
    if not state.running and diagnostics.owner is None:
        yield critical(
            translatable("the service does not run: {detail}", detail=state.detail),
            "`hob service logs` says why; `hob service restart`",
        )
    if not state.enabled:
        yield warn("the service is not started with the machine", _AGAIN)
    if state.lingers is False:
        yield warn("the service ends when you log out", "`sudo loginctl enable-linger $USER`")


SERVICE: tuple[Check, ...] = (
    Check("service.other", "Is the service this home's?", _other_home),
    Check("service.program", "Is the service's program there?", _program),
    Check("service.differs", "Is the service as it would be written now?", _differs),
    Check("service.down", "Does the service run?", _down, slow=True),
)
