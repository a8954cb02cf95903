"""Construction of the memory service."""

from collections.abc import Collection

from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.guard.policy.tool_lists import PROFILES, ToolList
from hob.guard.settings import PolicySettings, ToolRules
from hob.memory.embedding import MemoryEmbedder
from hob.memory.retrieval.assistance import Assistance, AssistedRetriever
from hob.memory.retrieval.other_profiles import Profile
from hob.memory.retrieval.retriever import Retriever
from hob.memory.service import MemoryService
from hob.memory.settings import MemorySettings
from hob.store.store import Store


class MemoryPolicy:
    """Whether the owner's turns may use memory; a rule that denies the tool `recall` denies that too."""

    def __init__(self, policy: PolicySettings) -> None:
        self._policy = policy

    def reconfigure(self, config: Config) -> None:
        """Apply changed settings."""
        self._policy = config[PolicySettings]

    def __call__(self, model: str) -> bool:
        policy = self._policy
        rules = [ToolRules(policy.allow, policy.deny), ToolRules(list(PROFILES[policy.profile]))]
        rules += [policy.senders[who] for who in ("owner",) if who in policy.senders]
        rules += [policy.providers[name] for name in (model.partition("/")[0], model) if name in policy.providers]
        return not any(ToolList(tuple(each.allow), tuple(each.deny)).refuses("recall") for each in rules)


def open_service(
    config: Config,
    store: Store,
    clock: Clock,
    policy: MemoryPolicy | None = None,
    embedder: MemoryEmbedder | None = None,
    plugin_layers: Collection[str] = (),
    assistance: Assistance | None = None,
) -> MemoryService:
    """Open memory over this store, with these plug-in layers."""
    allows, settings = policy or MemoryPolicy(config[PolicySettings]), config[MemorySettings]
    zone = zone_of(config[AgentSettings].timezone)
    retriever = Retriever(store.memory_index, embedder, Profile(settings.profile), zone)
    if assistance is None:
        return MemoryService(store.items, store.facts, retriever, settings, clock, allows, plugin_layers)
    automatic = AssistedRetriever(retriever, assistance, use_model=False) if assistance.rater else retriever
    thorough = AssistedRetriever(retriever, assistance, use_model=True)
    return MemoryService(store.items, store.facts, automatic, settings, clock, allows, plugin_layers, thorough)
