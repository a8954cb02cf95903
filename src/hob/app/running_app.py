"""What channels and jobs are given once Hob runs, and the kernel alone does not have."""

from hob.bus.session_queues import SessionQueues
from hob.core.ports.accept import Accept
from hob.core.values import dataclass
from hob.gateway.api import Operations
from hob.memory.background_model import BackgroundModel


@dataclass(frozen=True, slots=True)
class RunningServices:
    """Hob, letting messages in and running turns."""

    accept: Accept
    operations: Operations
    sessions: SessionQueues
    background: BackgroundModel
