"""Memory: what Hob keeps of what was said, read and written."""

from hob.app.subsystem import Open, Subsystem
from hob.core.lazy import Lazy
from hob.memory.settings import MemorySettings


@Lazy
def _open() -> Open:
    from hob.app.memory.opening import open_memory

    return open_memory


MEMORY = Subsystem(name="memory", settings={"memory": MemorySettings}, one_shot=True, open=_open)
