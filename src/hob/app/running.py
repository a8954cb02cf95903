"""What runs: given to channels and jobs, which need more than the kernel."""

from dataclasses import dataclass

from hob.app.operations import DaemonOperations
from hob.bus.session_queues import SessionQueues
from hob.core.ports.accept import Accept


@dataclass(frozen=True, slots=True)
class Running:
    """Hob, letting messages in and running turns."""

    accept: Accept
    operations: DaemonOperations
    sessions: SessionQueues
