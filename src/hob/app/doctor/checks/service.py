"""The service, where one is installed."""

from collections.abc import Iterator
from pathlib import Path

from hob.app.doctor.check import Check, Found, critical, info, warn
from hob.app.doctor.house import House, NotLooked
from hob.app.service.plan import make_plan
from hob.bus import BusSettings

_AGAIN = "`hob service install` puts it right"


def _need_service(house: House) -> None:
    if not house.keeper.file.exists():
        raise NotLooked("no service is installed")
    if house.keeper.home() != str(house.home):
        raise NotLooked("the service is for another home")


def _other_home(house: House) -> Iterator[Found]:
    keeper = house.keeper
    if keeper.file.exists() and keeper.home() != str(house.home):
        told = (
            f"the service is for another home: {keeper.home()}"
            if keeper.home()
            else "the service was not written by Hob"
        )
        yield info(told, "nothing to do, if that is meant; `hob service status` shows it", str(keeper.file))


def _program(house: House) -> Iterator[Found]:
    _need_service(house)
    if not Path(house.keeper.program() or "/").is_file():
        yield critical("the service starts a program that is gone", _AGAIN, house.keeper.program())


def _differs(house: House) -> Iterator[Found]:
    _need_service(house)
    plan = make_plan(house.home, house.environ, house.config[BusSettings].drain_seconds)
    if not house.keeper.is_current(plan):
        yield info("this Hob would write the service otherwise", _AGAIN, str(house.keeper.file))


def _down(house: House) -> Iterator[Found]:
    _need_service(house)
    if obstacle := house.keeper.obstacle():
        raise NotLooked(obstacle)
    state = house.keeper.state()
    if not state.running and house.owner is None:
        yield critical(
            f"the service does not run: {state.detail}", "`hob service logs` says why; `hob service restart`"
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
