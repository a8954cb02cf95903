"""The services that channels and jobs get once Hob runs."""

from hob.bus.session_queues import SessionQueues
from hob.core.ports.accept import Accept
from hob.core.values import dataclass
from hob.gateway.api import Operations
from hob.memory.background_model import BackgroundModel


@dataclass(frozen=True, slots=True)
class RunningServices:
    """A running Hob: the kernel's services, and the means to accept messages and run turns."""

    accept: Accept
    operations: Operations
    sessions: SessionQueues
    background: BackgroundModel
