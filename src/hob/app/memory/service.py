"""Construction of the memory service."""

from collections.abc import Collection

from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.app.subagents.sessions import depth_of
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.trust.labels import SenderClass
from hob.core.turns import Turn
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
    """Whether turns may use memory; a rule that denies the tool `recall` denies that too."""

    def __init__(self, policy: PolicySettings) -> None:
        self._set(policy)

    def reconfigure(self, config: Config) -> None:
        """Apply changed settings."""
        self._set(config[PolicySettings])

    def _set(self, policy: PolicySettings) -> None:
        self._policy = policy
        named = (*policy.senders.values(), *policy.groups.values(), *policy.providers.values())
        self._may_refuse = any(map(_refuses, (*_general(policy), policy.subagents, *named)))

    def __call__(self, model: str = "", turn: Turn | None = None) -> bool:
        """Return the verdict on a turn; without one, on the owner's turns."""
        if not self._may_refuse:  # as usual; asked several times per model call
            return True
        policy, inbounds = self._policy, (*turn.inbounds, *turn.joined) if turn else ()
        rules = _general(policy)
        senders = {each.sender.cls for each in inbounds} or {SenderClass.OWNER}
        rules += [policy.senders[who] for who in senders if who in policy.senders]
        groups = [each.origin for each in inbounds if each.group]
        places = {place for at in groups for place in ("*", at.channel, f"{at.channel}:{at.chat}")}
        rules += [policy.groups[place] for place in places if place in policy.groups]
        rules += [policy.subagents] if turn and depth_of(turn.session) else []
        rules += [policy.providers[name] for name in (model.partition("/")[0], model) if name in policy.providers]
        return not any(map(_refuses, rules))


def _general(policy: PolicySettings) -> list[ToolRules]:
    return [ToolRules(policy.allow, policy.deny), ToolRules(list(PROFILES[policy.profile]))]


def _refuses(rules: ToolRules) -> bool:
    return bool(ToolList(tuple(rules.allow), tuple(rules.deny)).refuses("recall"))


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
