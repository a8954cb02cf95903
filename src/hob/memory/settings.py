"""Settings of memory: recall, how long each layer stays, how words and meaning are joined, work in the background."""

from hob.core.settings import setting
from hob.core.values import dataclass

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class MemorySettings:
    """The section `[memory]`."""

    recall: bool = setting(True, "Recall by itself what helps with a message.", stored=True)
    citations: str = setting(
        "auto", "Name the source of each recalled memory: on, off, or auto (not in groups).",
        one_of=("on", "off", "auto"), stored=True,
    )  # fmt: skip
    profile: str = setting(
        "hob", "How words and meaning are joined: hob, rrf (as Kendra) or weighted (as OpenClaw).",
        one_of=("hob", "rrf", "weighted"),
    )  # fmt: skip
    ask_model: bool = setting(
        False, "Let a language model help your own searches: other words where little is found, and a better order."
    )
    conversation_days: float = setting(30.0, "Days what was said stays in memory; 0 keeps it.", at_least=0)
    tool_days: float = setting(14.0, "Days what tools found stays in memory; 0 keeps it.", at_least=0)
    group_days: float = setting(60.0, "Days what other agents share stays in memory; 0 keeps it.", at_least=0)
    background_tokens: int = setting(
        20_000, "Most tokens a day for facts, observations, summaries and searches together; 0 makes none.", at_least=0,
        stored=True,
    )  # fmt: skip
    observe: bool = setting(True, "Compress long conversations into dated observations.")
    observe_after: int = setting(50, "So many messages of a conversation are observed together.", at_least=10)
    max_observations: int = setting(200, "Above so many the lesser ones are condensed.", at_least=20)
    max_items: int = setting(
        50_000, "Most items of the layers that expire; the oldest go first.", at_least=100, stored=True
    )

    def expiry(self, layer: str, at: float) -> float | None:
        """When an item of this layer and time goes; None: it stays."""
        days = {"conversation": self.conversation_days, "tool": self.tool_days, "group": self.group_days}.get(
            layer, 0.0
        )
        return at + days * _DAY if days else None
