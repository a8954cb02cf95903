"""The alarm for undelivered replies."""

from hob.app.subsystem import Open, Subsystem
from hob.core.lazy import Lazy


@Lazy
def _open() -> Open:
    from hob.app.notifications.outbox_alarm import open_alarm

    return open_alarm


OUTBOX_ALARM = Subsystem(name="outbox_alarm", one_shot=True, open=_open)
