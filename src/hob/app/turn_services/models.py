"""Models for turns: routes, prices, prompts, budget and compaction."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.compaction.compaction import Compactor
from hob.agent.ports import TurnMemory
from hob.agent.prompt.builder import PromptBuilder
from hob.agent.prompt.context_room import ContextRoom
from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.app.features import Features
from hob.app.kernel import CACHE, Kernel
from hob.app.models.catalog import ModelCatalog, open_model_catalog
from hob.app.subagents.sessions import depth_of
from hob.core.ids import SessionKey
from hob.core.ports.model import Model, Prices
from hob.core.values import dataclass
from hob.guard.screening.masking.models import masked_model
from hob.guard.screening.model_calls.screening import ModelScreening
from hob.guard.screening.model_calls.settings import PromptGuardSettings, SanitizerSettings
from hob.providers.catalog.prices import ModelProfiles, open_prices
from hob.providers.opening import open_model
from hob.providers.routing.classifier_settings import ClassifierSettings
from hob.providers.routing.routing import ModelRouter
from hob.providers.settings import ModelSettings
from hob.store.store import Store


@dataclass(frozen=True, slots=True)
class ModelServices:
    """The services that call models, shared by the driver and the commands."""

    routes: ModelRouter
    model: Model
    prices: Prices
    default_model: Callable[[], str]
    room: ContextRoom
    prompts: PromptBuilder
    budget: Budget
    compactor: Compactor
    catalog: ModelCatalog


async def open_model_services(stack: AsyncExitStack, kernel: Kernel, features: Features) -> ModelServices:
    """Open the services that call models; their resources are closed with the stack."""
    config, store, clock, salt = kernel.config, kernel.store, kernel.clock, kernel.salt
    models, settings, cache = config[ModelSettings], config[AgentSettings], config.home / CACHE
    prices, table = open_prices(models.prices, kernel.choice, cache, clock)
    profiles = ModelProfiles(kernel.choice, table)
    screening = ModelScreening(config[PromptGuardSettings], config[SanitizerSettings], salt)
    opened = open_model(
        models,
        clock,
        choice=kernel.choice,
        blobs=store.blobs,
        profiles=profiles,
        screening=screening,
        classifier=config[ClassifierSettings],
        folder=cache,
        processes=kernel.processes,
        silence=settings.idle_seconds * 0.75,  # before the turn itself gives up
        changed=(prices.reconfigure, profiles.reconfigure),
    )
    routes = await stack.enter_async_context(opened)
    model = masked_model(features.wrapped(Model, routes), kernel.known)
    room = ContextRoom(profiles, store.channel_state)
    await room.load(clock.now().timestamp())
    limits, zone = config[SpendingSettings], zone_of(settings.timezone)
    budget = Budget(limits, store.ledger, prices, clock, settings.language, zone, partial(_find_payer, store))
    sections, memory = [section for each in features for section in each.prompt_sections], features.port(TurnMemory)
    prompts = PromptBuilder(
        settings,
        clock,
        kernel.files,
        memory,
        salt=salt,
        context_room=room,
        notes=store.working_notes,
        sections=sections,
    )
    compactor = Compactor(
        settings, model=model, transcript=store.transcript, budget=budget, clock=clock, salt=salt, context_room=room
    )
    catalog = await stack.enter_async_context(open_model_catalog(models, kernel.choice, budget, clock))
    return ModelServices(routes, model, prices, kernel.choice.default_name, room, prompts, budget, compactor, catalog)


async def _find_payer(store: Store, session: SessionKey) -> SessionKey:
    """Return the session that pays: a sub-agent's spending belongs to its root."""
    row = await store.subagents.spawned_as(session) if depth_of(session) else None
    return session if row is None else row.root
