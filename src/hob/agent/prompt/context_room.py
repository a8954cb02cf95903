"""The context window of a model: configured, known from its profile, and learned from refusals.

The configured size is a guess about a server that may have a smaller one. A refused request reveals more: the size the
server names, or at least an upper bound. Later requests to that model, reply included, stay within it, so that the next
turns are not refused as well.
"""

import re
from collections import OrderedDict

from hob.agent.settings import AgentSettings
from hob.core.models import ModelProfile
from hob.core.ports.channel import ChannelState
from hob.core.ports.model import Profiles
from hob.core.values import dataclass

_PART = 0.75  # fraction of a refused request that is assumed to fit
_MIN = 1_000  # tokens; a shorter request is refused for another reason
_SAID = re.compile(r"context (?:length|size|window)\D{0,20}(\d[\d,]{2,8}\d)", re.IGNORECASE)
_STATE = ("hob", "context")
_LONGEST = 30 * 86_400.0  # seconds; the server's configuration may have changed by then
_MIN_WINDOW = 2_000  # tokens; a profile with less is wrong
_MIN_ANSWER = 16
_RESULTS = ((190_000, 64_000), (95_000, 32_000))  # characters of a result, for windows of 200,000 and 100,000 tokens
_SHORT_RESULT, _MIN_RESULT = 16_000, 2_000
_MAX_MODELS = 100
_UNKNOWN = ModelProfile()


@dataclass(frozen=True, slots=True)
class Room:
    """Limits of one request to a model, in estimated tokens.

    `maximum` is the configured limit of the input; `prompt` is that or a lower learned limit. `answer` is the longest
    reply. A `small` model gets a short prompt with few tools.
    """

    maximum: int
    prompt: int
    answer: int
    small: bool = False


def result_characters(room: Room) -> int:
    """Return the maximum length of a tool result for a model with this room."""
    maximum = next((maximum for minimum, maximum in _RESULTS if room.maximum >= minimum), _SHORT_RESULT)
    return min(maximum, max(_MIN_RESULT, room.maximum))


class ContextRoom:
    """The context limits of each model. Learned limits are kept in `state` for a month."""

    def __init__(self, profiles: Profiles | None = None, state: ChannelState | None = None) -> None:
        self._profiles = profiles
        self._state = state
        self._learned: OrderedDict[str, int] = OrderedDict()

    async def load(self, now: float) -> None:
        """Load the limits learned by earlier processes; `now` in Unix seconds. Raises StoreErrors."""
        for model, kept in (await self._state.get(*_STATE)).items() if self._state is not None else ():
            window, _, at = kept.partition(" ")
            if now - float(at) < _LONGEST:
                self._learned[model] = int(window)

    def measure(self, model: str, settings: AgentSettings, answer: int) -> Room:
        """Return the limits of a request to this model that wants a reply of up to `answer` tokens.

        The configured window is the upper bound. Three quarters of a window are for the prompt.
        """
        profile = _UNKNOWN if self._profiles is None else self._profiles.find_profile(model)
        window = settings.context_tokens
        if profile.context_tokens is not None:
            window = min(window, max(_MIN_WINDOW, profile.context_tokens))
        if profile.output_tokens is not None:
            answer = min(answer, max(_MIN_ANSWER, profile.output_tokens))

        def split(window: int) -> tuple[int, int]:
            if profile.small:
                maximum = min(settings.small_prompt_tokens, window * 3 // 4)
                return maximum, min(answer, window - maximum)
            shorter = min(answer, window // 4)
            return window - shorter, shorter

        maximum, _ = split(window)
        return Room(maximum, *split(min(window, self._learned.get(model, window))), profile.small)

    async def learn(self, model: str, tokens: int, answer: int, said: str, now: float) -> None:
        """Learn from a refused request of `tokens` estimated tokens with a reply of up to `answer`.

        `said` is the server's error message. Raises StoreErrors.
        """
        if tokens <= _MIN:
            return
        # The larger of the two was too large; the input gets three quarters of the learned window.
        window = max(_MIN_WINDOW, tokens if tokens > answer else int((tokens + answer) * _PART))
        if (match := _SAID.search(said)) and _MIN_WINDOW <= int(match[1].replace(",", "")) < tokens + answer:
            window = int(match[1].replace(",", ""))
        window = min(window, self._learned.get(model, window))
        self._learned[model] = window
        self._learned.move_to_end(model)
        kept = {model: f"{window} {now:.0f}"}
        while len(self._learned) > _MAX_MODELS:
            kept[self._learned.popitem(last=False)[0]] = ""
        if self._state is not None:
            await self._state.put(*_STATE, kept)
