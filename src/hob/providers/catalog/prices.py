"""Prices of models: the owner's setting, zero for local models, otherwise the vendors' price list."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hob.core.clock import Clock
from hob.core.errors import ModelError
from hob.core.model_names import iter_names, strip_date
from hob.core.models import ModelProfile, ModelRequest, Price
from hob.providers.catalog.catalog import CLI_WIRES, SERVER, provider_at
from hob.providers.catalog.price_table import PricedModel, PriceTable
from hob.providers.http.addresses import is_loopback
from hob.providers.routing.choice import ConnectedProvider, ModelChoice, ModelRef
from hob.providers.routing.model_routes import max_output
from hob.providers.settings import ModelSettings, PriceSetting

# Model properties other than price: context window, and whether the model is small.

_NOTHING = ModelProfile()
_SMALL_BILLIONS = 9.0
"""Models up to this size are confused by long prompts with many tools."""
# matches `8b`, `0.6b`, `270m` and Gemma's `e4b`; not `a3b`, the active part of a larger one, nor the `7b` of `8x7b`
_SIZE = re.compile(r"(?<![a-z0-9.])e?(\d+(?:\.\d+)?)([bm])(?![a-z0-9])")
# sizes of these names in Ollama if none is given: https://ollama.com/library
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
_MAX_PROFILES = 1_000  # names come from outside


class ModelProfiles:
    """Implements `Profiles` from the settings, the model's name and the windows in the price list."""

    def __init__(self, choice: ModelChoice, table: PriceTable) -> None:
        self._choice = choice
        self._table = table
        self._found: dict[str, ModelProfile] = {}

    def reconfigure(self, settings: ModelSettings) -> None:
        """Use other settings; all cached profiles are dropped."""
        self._found.clear()

    def find_profile(self, model: str) -> ModelProfile:
        """Return what is known of the model, possibly nothing. Never raises, never waits."""
        found = self._found.get(model)
        return self._look_up(model) if found is None else found

    def _look_up(self, model: str) -> ModelProfile:
        try:
            ref = self._choice.resolve(model)
            connected = self._choice.connect(ref.provider)
        except ModelError:
            return _NOTHING
        at_home = is_free(ref, connected) and ref.provider != "openrouter"
        # the server of a local model decides its window, which the list cannot know
        listed = None if at_home else find_listed(self._table, ref, connected)
        profile = ModelProfile(
            context_tokens=None if listed is None else listed.context_tokens,
            images=connected.settings.images,
            tools=_tools(connected),
            small=_is_small(ref, connected),
        )
        if at_home or self._table.is_ready():
            if len(self._found) >= _MAX_PROFILES:
                self._found.clear()
            self._found[model] = profile
        return profile


def _tools(connected: ConnectedProvider) -> bool | None:
    return {"native": True, "text": False, "none": False}.get(connected.settings.tools)


def _is_small(ref: ModelRef, connected: ConnectedProvider) -> bool:
    if connected.settings.small is not None:
        return connected.settings.small
    billions = parse_billions(ref.model)
    if billions is not None:
        return billions <= _SMALL_BILLIONS
    family, _, tag = ref.model.lower().rpartition("/")[2].partition(":")
    return connected.provider.wire == "ollama" and tag in ("", "latest") and family in _SMALL_FAMILIES


def parse_billions(model: str) -> float | None:
    """Return the number of parameters in billions if the name contains it."""
    sizes = [float(size) / (1 if unit == "b" else 1000) for size, unit in _SIZE.findall(model.lower())]
    return max(sizes, default=None)


FREE = Price(0, 0, 0, 0)
_FREE, _UNKNOWN = (PricedModel(((0.0, price),), None) for price in (FREE, None))
_NOT_SET = PriceSetting()
FILE_NAME = "prices.json"

_LIST_NAMES: Mapping[str, str] = {"gemini": "google", "xai": "x-ai", "moonshot": "moonshotai"}
"""Providers with another name in the list."""
_COMPACT_DATE = re.compile(r"[-@](20\d\d)(\d\d)(\d\d)$")
_MAX_NAMES = 1_000  # names come from outside


class PriceList:
    """Implements `Prices`. A name seen before costs one dictionary look-up."""

    def __init__(self, own: Mapping[str, PriceSetting], choice: ModelChoice, table: PriceTable, clock: Clock) -> None:
        self._own = own
        self._choice = choice
        self._table = table
        self._clock = clock
        self._found: dict[str, Price | None] = {}
        self._dated: dict[str, tuple[PriceSetting, PricedModel]] = {}
        """Models whose price changes at a known date."""

    def reconfigure(self, settings: ModelSettings) -> None:
        """Use other settings: other prices and other addresses."""
        self._own = settings.prices
        self._found.clear()
        self._dated.clear()

    def find_price(self, model: str) -> Price | None:
        """Return the owner's price, zero for a local model, or the list's price."""
        try:
            return self._found[model]
        except KeyError:
            return self._look_up(model)

    def max_output(self, model: str, request: ModelRequest) -> int:
        """Return the output limit as its wire requests it: including thinking only if the model thinks."""
        place = self._place(model)
        return request.max_output if place is None else max_output(place[1], place[0].model, request)

    async def prepare(self, models: Sequence[str]) -> None:
        """Return once everything available about these models is loaded. Never raises."""
        if self._table.is_ready():
            return
        unknown = [model for model in models if model not in self._found]
        if any(self._sources(model)[1] is None for model in unknown):
            await self._table.prepare()

    def _look_up(self, model: str) -> Price | None:
        own, listed = self._dated.get(model) or self._sources(model)
        if listed is None:
            return None
        price = complete_price(own, listed.price_at(self._clock.now().timestamp()))
        if len(listed.prices) == 1:
            return self._keep(model, price)
        if len(self._dated) >= _MAX_NAMES:
            self._dated.clear()
        self._dated[model] = own, listed
        return price

    def _keep(self, model: str, price: Price | None) -> Price | None:
        if len(self._found) >= _MAX_NAMES:
            self._found.clear()
        self._found[model] = price
        return price

    def _place(self, model: str) -> tuple[ModelRef, ConnectedProvider] | None:
        try:
            ref = self._choice.resolve(model)
            return ref, self._choice.connect(ref.provider)
        except ModelError:
            return None

    def _sources(self, model: str) -> tuple[PriceSetting, PricedModel | None]:
        """Return the owner's price and the price that applies otherwise; None if the list is needed and not ready."""
        place = self._place(model)
        own = self._find_own(model, place)
        is_whole = own.input is not None and own.output is not None
        if is_whole or place is None or place[1].provider.wire in CLI_WIRES:  # a CLI reports the cost with its answer
            return own, _UNKNOWN
        if is_free(*place):
            # a provider that charges for input or output is not free for the other
            return own, _FREE if own == _NOT_SET else _UNKNOWN
        if not self._table.is_ready():
            return own, None
        return own, find_listed(self._table, *place) or _UNKNOWN

    def _find_own(self, model: str, place: tuple[ModelRef, ConnectedProvider] | None) -> PriceSetting:
        names = list(iter_names(model, *(() if place is None else (str(place[0]), place[0].model))))
        for name in names:
            if name in self._own:
                return self._own[name]
        for pattern in sorted((name for name in self._own if name.endswith("*")), key=len, reverse=True):
            if any(name.startswith(pattern[:-1]) for name in names):
                return self._own[pattern]
        return _NOT_SET


def open_prices(
    own: Mapping[str, PriceSetting], choice: ModelChoice, cache: Path, clock: Clock
) -> tuple[PriceList, PriceTable]:
    """Return the prices, with the list they share with the profiles; its file is in the folder `cache`."""
    table = PriceTable(cache / FILE_NAME)
    return PriceList(own, choice, table, clock), table


def complete_price(own: PriceSetting, base: Price | None) -> Price | None:
    """Return the owner's price completed by the base price; None if input or output is in neither.

    An owner's input price applies to cached input too.
    """
    if own == _NOT_SET:
        return base
    if own.input is not None and own.output is not None:
        base = FREE
    if base is None:
        return None

    def said(*dollars: float | None, otherwise: int) -> int:
        return next((round(each * 1_000_000) for each in dollars if each is not None), otherwise)

    same_writes = own.cache_write is None and own.input is None
    return replace(
        base,
        input=said(own.input, otherwise=base.input),
        output=said(own.output, otherwise=base.output),
        cache_read=said(own.cache_read, own.input, otherwise=base.cache_read),
        cache_write=said(own.cache_write, own.input, otherwise=base.cache_write),
        cache_write_1h=base.cache_write_1h if same_writes else None,
        above=tuple(
            (start, price) for start, dearer in base.above if (price := complete_price(own, dearer)) is not None
        ),
    )


def is_free(ref: ModelRef, connected: ConnectedProvider) -> bool:
    """Whether the model runs on the owner's machines and therefore costs nothing.

    Ollama's cloud models go through the local server but run, and are billed, elsewhere.
    """
    if ref.model.endswith(("-cloud", ":cloud")):
        return False
    if ref.provider == "openrouter" and ref.model.endswith(":free"):
        return True
    if connected.settings.local:
        return True
    # another machine may charge, and a vendor's name at a local address is a gateway to the vendor
    is_here = connected.provider.wire == "ollama" or is_loopback(connected.base_url)
    return connected.local and is_here


def find_listed(table: PriceTable, ref: ModelRef, connected: ConnectedProvider) -> PricedModel | None:
    """Find the model in the list by its exact name, otherwise by its name without the date."""
    id = _list_name(table, connected)
    if id is None:
        return None
    found = (table.find(id, name) for name in _spellings(id, ref.model))
    return next((listed for listed in found if listed is not None), None)


def _list_name(table: PriceTable, connected: ConnectedProvider) -> str | None:
    id, address = connected.provider.id, connected.base_url
    if id == SERVER or address != connected.provider.base_url:
        known = provider_at(address)
        if known is not None:
            id = known.id
        elif (there := table.provider_at(address)) is not None:
            return there
        elif id == SERVER:
            return None
    id = _LIST_NAMES.get(id, id)
    return id if table.has(id) else None


def _spellings(provider: str, model: str) -> Iterator[str]:
    if provider == "google":
        model = model.removeprefix("models/")
    # sorts the servers by price; `:nitro` may choose a more expensive one, `:online` adds searches
    if provider == "openrouter":
        model = model.removesuffix(":floor")
    yield model
    yield _COMPACT_DATE.sub(r"-\1-\2-\3", model)
    yield strip_date(model)
