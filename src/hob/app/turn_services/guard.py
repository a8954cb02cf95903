"""The guard of turns: judging calls and admitting messages."""

from collections.abc import Callable

from hob.agent.commands.slash_commands import SlashCommands
from hob.app.kernel import Kernel
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.trust.lazy_guard import LazyGuard, load_guard
from hob.bus.accept import Acceptor
from hob.config.loading import Config
from hob.core.ports.guard import Admission
from hob.core.ports.tools import Toolset
from hob.guard.screening.masking.masked_ports import MaskedAdmission
from hob.tools.registry.groups import Groups


def make_guard(
    kernel: Kernel,
    config: Callable[[], Config],
    tool_runtime: LazyToolRuntime,
    registry: Groups,
    toolset: Toolset,
) -> LazyGuard:
    """Make the guard, which loads when the first call is judged."""
    known = kernel.known
    return LazyGuard(
        kernel.store,
        lambda: load_guard()(
            config(),
            kernel.store,
            kernel.session_queues,
            tool_runtime.made(),
            kernel.clock,
            specs=lambda: {**registry.named(), **{spec.name: spec for spec in toolset.specs()}},
            language=kernel.language,
            secrets=lambda text: ("a known secret",) if known(text) != text else (),
            identity=kernel.files.load,
            people=kernel.pairing_service.people,
            notifier=kernel.notifier,
        ),
    )


def make_accept(kernel: Kernel, commands: SlashCommands, admission: Admission, guard: LazyGuard) -> Acceptor:
    """Make the acceptor of messages, with admission, approvals and commands."""
    queues = kernel.session_queues
    return Acceptor(
        queues.context,
        commands=commands,
        admission=MaskedAdmission(admission, kernel.known),
        arrived=queues.arrived,
        adopt=queues.adopt if kernel.one_shot else None,
        questions=guard,
    )
