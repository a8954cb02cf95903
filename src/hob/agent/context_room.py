"""How much a model takes in, learned from what it refused.

The configured context size is a guess about a server that may be set up smaller. A request that overflows tells more:
from then on requests to that model stay clearly below it, so that the next turns are not refused all over again.
"""

from collections import OrderedDict

_PART = 0.75  # of what overflowed
_LEAST = 1_000  # tokens; what overflows below that does so for another reason
_MOST_MODELS = 100


class ContextRoom:
    """The most input tokens per model, as estimated by us. Lasts as long as the process."""

    def __init__(self) -> None:
        self._learned: OrderedDict[str, int] = OrderedDict()

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
