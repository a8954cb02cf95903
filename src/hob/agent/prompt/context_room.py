"""How much a model takes in: what is configured, what is known of it, and what was learned from what it refused.

The configured context size is a guess about a server that may be set up smaller. A request that overflows tells more:
from then on requests to that model stay clearly below it, so that the next turns are not refused all over again.
"""

from collections import OrderedDict
from dataclasses import dataclass

from hob.agent.settings import AgentSettings
from hob.core.models import ModelProfile
from hob.core.ports.model import Profiles

_PART = 0.75  # of what overflowed
_LEAST = 1_000  # tokens; what overflows below that does so for another reason
_LEAST_WINDOW = 2_000  # tokens; a list that says less is wrong
_LEAST_ANSWER = 16
_MOST_MODELS = 100
_UNKNOWN = ModelProfile()


@dataclass(frozen=True, slots=True)
class Room:
    """What one request to a model may hold, in tokens as estimated by us.

    `prompt` is the most input: `most`, or less where less was learned. `answer` is the longest answer. A `small` model
    gets a short prompt with few tools.
    """

    most: int
    prompt: int
    answer: int
    small: bool = False


class ContextRoom:
    """The room in each model's context. What was learned lasts as long as the process."""

    def __init__(self, profiles: Profiles | None = None) -> None:
        self._profiles = profiles
        self._learned: OrderedDict[str, int] = OrderedDict()

    def measure(self, model: str, settings: AgentSettings, answer: int) -> Room:
        """The room for a request to this model that wants an answer of up to `answer` tokens.

        The configured window is the upper bound. Half of a window stays for the prompt, three quarters of it for the
        short one of a small model.
        """
        profile = _UNKNOWN if self._profiles is None else self._profiles.find_profile(model)
        window = settings.context_tokens
        if profile.context_tokens is not None:
            window = min(window, max(_LEAST_WINDOW, profile.context_tokens))
        if profile.output_tokens is not None:
            answer = min(answer, max(_LEAST_ANSWER, profile.output_tokens))
        if profile.small:
            most = min(settings.small_prompt_tokens, window * 3 // 4)
            answer = min(answer, window - most)
        else:
            answer = min(answer, window // 2)
            most = window - answer
        return Room(most, self.limit(model, most), answer, profile.small)

    def limit(self, model: str, most: int) -> int:
        """The most input tokens for this model: `most`, or less where less was learned."""
        return min(most, self._learned.get(model, most))

    def learn(self, model: str, tokens: int) -> None:
        """A request of so many estimated tokens was too long for the model."""
        if tokens <= _LEAST:
            return
        self._learned[model] = self.limit(model, max(_LEAST, int(tokens * _PART)))
        self._learned.move_to_end(model)
        while len(self._learned) > _MOST_MODELS:
            self._learned.popitem(last=False)
