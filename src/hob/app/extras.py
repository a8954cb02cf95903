"""What tests and embedding programs put in the place of Hob's own."""

from collections.abc import Callable
from dataclasses import field

from hob.core.clock import Clock, SystemClock
from hob.core.events.hooks import Hook
from hob.core.ports.accept import Accept
from hob.core.ports.channel import Channel
from hob.core.ports.guard import Admission, Judge
from hob.core.ports.journal import Journal
from hob.core.ports.model import Model
from hob.core.ports.tools import Toolset
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Extras:
    """What an embedding program or a test puts in: channels, hooks, another model or clock.

    Tools, judge and admission stand in place of Hob's own; tools without a judge are judged by Hob's. `wrap_tools` is
    given the tools there are, and gives those that turns call.
    """

    channels: tuple[Channel, ...] = ()
    toolset: Toolset | None = None
    judge: Judge | None = None
    admission: Admission | None = None
    hooks: tuple[Hook, ...] = ()
    clock: Clock = field(default_factory=SystemClock)
    wrap_tools: Callable[[Toolset], Toolset] = lambda toolset: toolset
    wrap_model: Callable[[Model], Model] = lambda model: model
    wrap_journal: Callable[[Journal], Journal] = lambda journal: journal
    wrap_accept: Callable[[Accept], Accept] = lambda accept: accept
