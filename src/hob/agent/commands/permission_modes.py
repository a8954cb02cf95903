"""The choices of `/permission` and `/autonomy`: what a session allows, and how much of it without asking."""

from collections.abc import Callable, Mapping

from hob.agent.sessions import is_group
from hob.core.ids import SessionKey
from hob.core.messages import Inbound
from hob.core.translation.command_answers import Answer, answer
from hob.core.trust.labels import OWNER_LABEL
from hob.core.values import dataclass

AS_CONFIGURED = "default"
_MEANINGS: Mapping[str, Answer] = {
    "read-only": Answer.MEANS_READ_ONLY,
    "guarded": Answer.MEANS_GUARDED,
    "workspace": Answer.MEANS_WORKSPACE,
    "full": Answer.MEANS_FULL,
    "supervised": Answer.MEANS_SUPERVISED,
    "cautious": Answer.MEANS_CAUTIOUS,
    "autonomous": Answer.MEANS_AUTONOMOUS,
}


@dataclass(frozen=True, slots=True)
class PermissionLevel:
    """The levels in the guard's words, strictest first, and the configured one; empty if unknown."""

    words: tuple[str, ...]
    configured: str = ""

    def describe(self, chosen: str | None, language: str) -> str:
        """Describe the chosen level; None means as configured."""
        if chosen:
            return chosen
        said = answer(Answer.AS_CONFIGURED, language)
        return f"{self.configured}, {said}" if self.configured else said

    def is_looser(self, wanted: str | None, current: str | None) -> bool:
        """Whether `wanted` permits more than `current`; None means as configured. An unknown level counts as the
        loosest.
        """
        return self._rank(wanted, len(self.words)) > self._rank(current, 0)

    def _rank(self, chosen: str | None, unknown: int) -> int:
        word = chosen or self.configured
        return self.words.index(word) if word in self.words else unknown

    def describe_all(self, language: str) -> str:
        """Return one line per level with its meaning."""
        meanings = {word: answer(_MEANINGS[word], language) if word in _MEANINGS else "" for word in self.words}
        rows = {**meanings, AS_CONFIGURED: self.describe(None, language)}
        width = max(map(len, rows))
        return "\n".join(f"  {word.ljust(width)}  {text}".rstrip() for word, text in rows.items())


@dataclass(frozen=True, slots=True)
class PermissionModes:
    """Both scales, and why a message does not authenticate its author well enough to permit more; "" if it does."""

    modes: PermissionLevel = PermissionLevel(("read-only", "guarded", "workspace", "full"))
    autonomies: PermissionLevel = PermissionLevel(("supervised", "cautious", "autonomous"))
    objection: Callable[[Inbound], str] = lambda inbound: ""

    def may_be_full(self, inbound: Inbound, session: SessionKey) -> bool:
        """Whether this message may choose the loosest mode."""
        return is_typed_alone(inbound, session) and not self.objection(inbound)


DEFAULT_MODES = PermissionModes()


def is_typed_alone(inbound: Inbound, session: SessionKey) -> bool:
    """Whether the owner typed this in a conversation without other participants."""
    by_hand = inbound.label == OWNER_LABEL and not inbound.hops and not inbound.background
    return by_hand and not inbound.group and not is_group(session)
