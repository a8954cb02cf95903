"""The house over the kernel; what looks at it is loaded when somebody asks."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.core.lazy import Lazy
from hob.gateway.house import House, HouseAtHand


@Lazy
def _over() -> Callable[..., House]:
    from hob.app.diagnostics.house import OwnerHouse

    return OwnerHouse


@asynccontextmanager
async def open_house(kernel: Kernel) -> AsyncIterator[Contribution]:
    """Nothing is looked at before somebody asks."""

    def make() -> House:
        return _over()(kernel.config.home, kernel.environ, kernel.store, kernel.channels)

    yield Contribution(provides={HouseAtHand: HouseAtHand(Lazy(make))})
