"""What is known of models beyond their price: how much they read at once, and whether they are small."""

import re

from hob.core.errors import ModelError
from hob.core.models import ModelProfile
from hob.providers.catalog.price_table import PriceTable
from hob.providers.catalog.prices import find_listed, is_free
from hob.providers.routing.choice import Choice, ConnectedProvider, Ref
from hob.providers.settings import ModelSettings

_NOTHING = ModelProfile()
_SMALL_BILLIONS = 9.0
"""Up to here models lose their way in a long prompt with many tools."""
# `8b`, `0.6b`, `270m` and Gemma's `e4b`; not `a3b`, the active part of a larger one, nor the `7b` of `8x7b`
_SIZE = re.compile(r"(?<![a-z0-9.])e?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
# what Ollama means by these names where no size is given: https://ollama.com/library
_SMALL_FAMILIES = frozenset(
    [
        "gemma",
        "gemma2",
        "gemma3",
        "gemma3n",
        "granite3.3",
        "llama3",
        "llama3.1",
        "llama3.2",
        "ministral-3",
        "mistral",
        "phi",
        "phi3",
        "phi4-mini",
        "qwen2.5",
        "qwen3",
        "smollm",
        "smollm2",
        "tinyllama",
    ]
)
_MOST_NAMES = 1_000  # names come from outside


class ModelProfiles:
    """Implements `Profiles` from the settings, the model's name and the price list's windows."""

    def __init__(self, choice: Choice, table: PriceTable) -> None:
        self._choice = choice
        self._table = table
        self._found: dict[str, ModelProfile] = {}

    def become(self, settings: ModelSettings) -> None:
        """Other settings hold: look everything up anew."""
        self._found.clear()

    def find_profile(self, model: str) -> ModelProfile:
        """What is known of the model, perhaps nothing. Never raises, never waits."""
        found = self._found.get(model)
        return self._look_up(model) if found is None else found

    def _look_up(self, model: str) -> ModelProfile:
        try:
            ref = self._choice.resolve(model)
            connected = self._choice.connect(ref.provider)
        except ModelError:
            return _NOTHING
        at_home = is_free(ref, connected) and ref.provider != "openrouter"
        # how much a model at home reads at once is its server's choice, which the list cannot know
        listed = None if at_home else find_listed(self._table, ref, connected)
        profile = ModelProfile(
            context_tokens=None if listed is None else listed.context_tokens,
            images=connected.settings.images,
            tools=_tools(connected),
            small=_is_small(ref, connected),
        )
        if at_home or self._table.is_ready():
            if len(self._found) >= _MOST_NAMES:
                self._found.clear()
            self._found[model] = profile
        return profile


def _tools(connected: ConnectedProvider) -> bool | None:
    return {"native": True, "text": False, "none": False}.get(connected.settings.tools)


def _is_small(ref: Ref, connected: ConnectedProvider) -> bool:
    if connected.settings.small is not None:
        return connected.settings.small
    billions = billions_of(ref.model)
    if billions is not None:
        return billions <= _SMALL_BILLIONS
    family, _, tag = ref.model.lower().rpartition("/")[2].partition(":")
    return connected.provider.wire == "ollama" and tag in ("", "latest") and family in _SMALL_FAMILIES


def billions_of(model: str) -> float | None:
    """The model's parameters in thousand millions, as far as its name says."""
    sizes = [float(size) / (1 if unit == "b" else 1000) for size, unit in _SIZE.findall(model.lower())]
    return max(sizes, default=None)
