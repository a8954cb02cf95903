"""Memory settings: recall, retention by layer, ranking profile and background work."""

from hob.core.settings import setting
from hob.core.values import dataclass

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """What Hob remembers, for how long, and how it finds it again."""

    recall: bool = setting(True, "Add memories that fit to each message.", stored=True)
    citations: str = setting(
        "auto",
        "Name the source of each memory that is used: on, off, or auto (not in groups).",
        one_of=("on", "off", "auto"),
        stored=True,
    )
    profile: str = setting(
        "hob",
        "How matches by words and by meaning are joined; leave it at hob. rrf and weighted are the ways of "
        "Kendra and OpenClaw, for comparing.",
        one_of=("hob", "rrf", "weighted"),
    )
    ask_model: bool = setting(
        False, "Let a language model help your own searches: other words where little is found, and a better order."
    )
    conversation_days: float = setting(30.0, "Days for which conversations stay in memory; 0: for ever.", at_least=0)
    tool_days: float = setting(14.0, "Days for which results of tools stay in memory; 0: for ever.", at_least=0)
    group_days: float = setting(
        60.0, "Days for which what other agents share stays in memory; 0: for ever.", at_least=0
    )
    background_tokens: int = setting(
        20_000,
        "Most tokens a day for work on memory in the background and model help in searches; 0: none of it.",
        at_least=0,
        stored=True,
    )
    observe: bool = setting(True, "Note in short, with dates, what long conversations said.")
    observe_after: int = setting(50, "Messages of a conversation that are noted together.", at_least=10)
    max_observations: int = setting(200, "With more notes than this, the less important ones are merged.", at_least=20)
    max_items: int = setting(
        50_000, "Most entries of the kinds that expire; the oldest go first.", at_least=100, stored=True
    )

    def expiry(self, layer: str, at: float) -> float | None:
        """Return when an item of this layer and time expires; None if never."""
        days = {"conversation": self.conversation_days, "tool": self.tool_days, "group": self.group_days}.get(
            layer, 0.0
        )
        return at + days * _DAY if days else None
