"""The owner's operations on a running Hob."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from hob.agent.budget.budget import Budget
from hob.agent.commands.inspection import Inspector
from hob.agent.settings import AgentSettings
from hob.app.features import Features
from hob.app.kernel import Kernel
from hob.app.models.usage_report import UsageReport
from hob.app.operations import DaemonOperations
from hob.app.sessions.owner_sessions import OwnerSessions
from hob.app.settings.reload import SettingsReload
from hob.app.settings.sections import read_config
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.turn_services.models import ModelServices
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.lazy import Lazy
from hob.core.ports.tools import Toolset
from hob.gateway.administration import TriedAnswer
from hob.gateway.answer_types import ErasedAnswer, ReplayAnswer
from hob.guard.admission.pairing import PairingService
from hob.store.erasure.erasure import Erasure
from hob.store.store import Store


def erasure_of(kernel: Kernel, features: Features) -> Erasure:
    """The store's, with what features keep elsewhere."""
    return kernel.store.erasure.with_participants([each.erase for each in features if each.erase is not None])


def make_operations(
    kernel: Kernel,
    features: Features,
    views: Callable[[], Awaitable[Mapping[str, Any]]],
    models: ModelServices,
    toolset: Toolset,
    reloading: SettingsReload,
    address: str,
    on_handover: Callable[[], None] | None,
) -> DaemonOperations:
    """Make the owner's operations; those rarely used load on first use."""
    config, store, clock = kernel.config, kernel.store, kernel.clock
    tool_runtime = features.port(LazyToolRuntime)
    erasure = erasure_of(kernel, features)

    async def probe(name: str, draft: str) -> TriedAnswer:
        here = config if kernel.one_shot else read_config()  # its file may have changed
        return await _probe()(here, models.budget, clock, name, draft)

    async def erase(who: str, preview: bool) -> ErasedAnswer:
        return await _erase_person()(store, erasure, kernel.pairing_service, config.home, who, preview)

    async def replay(id: str, model: str) -> ReplayAnswer:
        return await _replay()(store, models.model, models.routes.routes, models.budget, clock)(id, model)

    return DaemonOperations(
        kernel,
        models.compactor,
        Inspector(
            config[AgentSettings], models.prompts, store.transcript, store.sessions, toolset, models.default_model,
            models.model,
        ),
        UsageReport(store.ledger, models.budget, clock),
        probe,
        models.routes,
        tool_runtime,
        OwnerSessions(store, erasure, kernel.session_queues),
        erase,
        replay,
        reloading,
        views,
        address,
        on_handover,
    )  # fmt: skip


@Lazy
def _probe() -> Callable[[Config, Budget, Clock, str, str], Awaitable[TriedAnswer]]:
    from hob.app.models.probe import probe_model

    return probe_model


@Lazy
def _replay() -> Callable[..., Callable[[str, str], Awaitable[ReplayAnswer]]]:
    from hob.app.replay.replay import TurnReplay

    return TurnReplay


@Lazy
def _erase_person() -> Callable[[Store, Erasure, PairingService, Path, str, bool], Awaitable[ErasedAnswer]]:
    from hob.app.maintenance.person_erasure import erase_person

    return erase_person
