"""Memory settings: recall, retention by layer, ranking profile and background work."""

from hob.core.settings import setting
from hob.core.values import dataclass

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What Hob remembers, for how long, and how it is found again."""

    recall: bool = setting(True, "Add relevant memories to each message.", stored=True)
    citations: str = setting(
        "auto",
        "Name the source of each recalled memory, also in the results of tools: on, off, or auto (not in groups). "
        "Untrusted ones always name it.",
        one_of=("on", "off", "auto"),
        stored=True,
    )
    profile: str = setting(
        "hob",
        "How matches by words and by meaning are combined; leave it at hob. rrf and weighted are the methods "
        "of Kendra and OpenClaw, for comparison.",
        one_of=("hob", "rrf", "weighted"),
    )
    ask_model: bool = setting(
        False,
        "Let a language model improve your explicit searches: other wordings if little is found, and a better order.",
    )
    conversation_days: float = setting(30.0, "Days that conversations stay in memory; 0: for ever.", at_least=0)
    tool_days: float = setting(14.0, "Days that tool results stay in memory; 0: for ever.", at_least=0)
    group_days: float = setting(
        60.0, "Days that items shared by other agents (not group chats) stay in memory; 0: for ever.", at_least=0
    )
    background_tokens: int = setting(
        20_000,
        "Maximum tokens per day for background work on memory and model help in searches; 0: neither is done.",
        at_least=0,
        stored=True,
    )
    observe: bool = setting(True, "Compress long conversations into dated observations.")
    observe_after: int = setting(
        50, "Number of new messages in a conversation after which they are compressed.", at_least=10
    )
    max_observations: int = setting(
        200, "Above this many observations, the less important ones are condensed.", at_least=20
    )
    max_items: int = setting(
        50_000, "Maximum items that can expire; beyond it, the oldest are deleted first.", at_least=100, stored=True
    )

    def expiry(self, layer: str, at: float) -> float | None:
        """Return when an item of this layer and time expires; None if never."""
        days = {"conversation": self.conversation_days, "tool": self.tool_days, "group": self.group_days}.get(
            layer, 0.0
        )
        return at + days * _DAY if days else None
