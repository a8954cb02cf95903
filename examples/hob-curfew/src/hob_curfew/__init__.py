"""A hook in one file: a turn whose message contains a word of `[curfew]` is refused."""

from dataclasses import dataclass

from hob.core.events.hooks import BeforeTurn, Decision, Deny, HookEvent, Proceed
from hob.core.settings import setting


@dataclass(frozen=True)
class CurfewSettings:
    """`[curfew]` in config.toml."""

    words: list[str] = setting(["bedtime"], "Messages with one of these are not answered.")


class Curfew:
    """Implements `hob.core.events.hooks.Hook`."""

    settings = CurfewSettings
    name = "curfew"

    def __init__(self, settings: CurfewSettings) -> None:
        self._words = settings.words

    async def __call__(self, event: HookEvent) -> Decision:
        """Deny messages that contain one of the words."""
        if isinstance(event, BeforeTurn):
            said = " ".join(inbound.text.casefold() for inbound in event.turn.inbounds)
            if found := [word for word in self._words if word.casefold() in said]:
                return Deny(f"curfew: we do not talk about {found[0]}")
        return Proceed()
