"""What models cost: as the owner says, else nothing where the model runs at home, else as the vendors' list says."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from hob.core.clock import Clock
from hob.core.errors import ModelError
from hob.core.model_names import names_of, undated
from hob.core.models import ModelProfile, ModelRequest, Price
from hob.providers.catalog.catalog import CLI_WIRES, SERVER, provider_at
from hob.providers.catalog.price_table import PricedModel, PriceTable
from hob.providers.http.addresses import is_loopback
from hob.providers.routing.choice import Choice, ConnectedProvider, ModelRef
from hob.providers.routing.model_routes import max_output
from hob.providers.settings import ModelSettings, PriceSetting

# What is known of models beyond their price: how much they read at once, and whether they are small.

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
_MAX_PROFILES = 1_000  # names come from outside


class ModelProfiles:
    """Implements `Profiles` from the settings, the model's name and the price list's windows."""

    def __init__(self, choice: Choice, table: PriceTable) -> None:
        self._choice = choice
        self._table = table
        self._found: dict[str, ModelProfile] = {}

    def reconfigure(self, settings: ModelSettings) -> None:
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
            if len(self._found) >= _MAX_PROFILES:
                self._found.clear()
            self._found[model] = profile
        return profile


def _tools(connected: ConnectedProvider) -> bool | None:
    return {"native": True, "text": False, "none": False}.get(connected.settings.tools)


def _is_small(ref: ModelRef, connected: ConnectedProvider) -> bool:
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


FREE = Price(0, 0, 0, 0)
_FREE, _UNKNOWN = (PricedModel(((0.0, price),), None) for price in (FREE, None))
_NOT_SET = PriceSetting()
FILE_NAME = "prices.json"

_LIST_NAMES: Mapping[str, str] = {"gemini": "google", "xai": "x-ai", "moonshot": "moonshotai"}
"""Providers that the list calls otherwise."""
_COMPACT_DATE = re.compile(r"[-@](20\d\d)(\d\d)(\d\d)$")
_MAX_NAMES = 1_000  # names come from outside


class PriceList:
    """Implements `Prices`: a dictionary look-up for a name that was asked for before."""

    def __init__(self, own: Mapping[str, PriceSetting], choice: Choice, table: PriceTable, clock: Clock) -> None:
        self._own = own
        self._choice = choice
        self._table = table
        self._clock = clock
        self._found: dict[str, Price | None] = {}
        self._dated: dict[str, tuple[PriceSetting, PricedModel]] = {}
        """Those that will have another price from some day on."""

    def reconfigure(self, settings: ModelSettings) -> None:
        """Other settings hold: other prices of the owner's, other places where models are asked."""
        self._own = settings.prices
        self._found.clear()
        self._dated.clear()

    def find_price(self, model: str) -> Price | None:
        """The owner's price, or nothing where the model runs on the owner's machines, or the list's price."""
        try:
            return self._found[model]
        except KeyError:
            return self._look_up(model)

    def max_output(self, model: str, request: ModelRequest) -> int:
        """As its wire asks for it: with room for thinking only where the model thinks."""
        place = self._place(model)
        return request.max_output if place is None else max_output(place[1], place[0].model, request)

    async def prepare(self, models: Sequence[str]) -> None:
        """Return when all is known that can be known of these models. Never raises."""
        if self._table.is_ready():
            return
        unknown = [model for model in models if model not in self._found]
        if any(self._sources(model)[1] is None for model in unknown):
            await self._table.prepare()

    def _look_up(self, model: str) -> Price | None:
        own, listed = self._dated.get(model) or self._sources(model)
        if listed is None:
            return None
        price = merge(own, listed.price_at(self._clock.now().timestamp()))
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
        """What the owner says, and the price that holds besides; None where the list is to be asked and not ready."""
        place = self._place(model)
        own = self._find_own(model, place)
        is_whole = own.input is not None and own.output is not None
        if is_whole or place is None or place[1].provider.wire in CLI_WIRES:  # a CLI tells with the answer what it cost
            return own, _UNKNOWN
        if is_free(*place):
            return own, _FREE if own == _NOT_SET else _UNKNOWN  # whom the owner pays for one half is not free
        if not self._table.is_ready():
            return own, None
        return own, find_listed(self._table, *place) or _UNKNOWN

    def _find_own(self, model: str, place: tuple[ModelRef, ConnectedProvider] | None) -> PriceSetting:
        names = list(names_of(model, *(() if place is None else (str(place[0]), place[0].model))))
        for name in names:
            if name in self._own:
                return self._own[name]
        for pattern in sorted((name for name in self._own if name.endswith("*")), key=len, reverse=True):
            if any(name.startswith(pattern[:-1]) for name in names):
                return self._own[pattern]
        return _NOT_SET


def open_prices(
    own: Mapping[str, PriceSetting], choice: Choice, cache: Path, clock: Clock
) -> tuple[PriceList, PriceTable]:
    """The prices, with the list that they and the profiles share; its file is kept in the folder `cache`."""
    table = PriceTable(cache / FILE_NAME)
    return PriceList(own, choice, table, clock), table


def merge(own: PriceSetting, base: Price | None) -> Price | None:
    """What the owner says, and besides what would hold without; None where input or output are not known from either.

    Who says what input costs says it of cached input too.
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
        above=tuple((start, price) for start, dearer in base.above if (price := merge(own, dearer)) is not None),
    )


def is_free(ref: ModelRef, connected: ConnectedProvider) -> bool:
    """Whether the model runs on the owner's machines: at home there is no bill.

    Ollama's cloud models go through the local server and are computed, and paid for, elsewhere.
    """
    if ref.model.endswith(("-cloud", ":cloud")):
        return False
    if ref.provider == "openrouter" and ref.model.endswith(":free"):
        return True
    if connected.settings.local:
        return True
    # elsewhere in the network somebody may send a bill, and a vendor's name at an address here is a gateway to it
    is_here = connected.provider.wire == "ollama" or is_loopback(connected.base_url)
    return connected.local and is_here


def find_listed(table: PriceTable, ref: ModelRef, connected: ConnectedProvider) -> PricedModel | None:
    """What the list says of this model: by its exact name, else by its name without the date."""
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
    if provider == "openrouter":  # sorts the servers by price; `:nitro` may take a dearer one, `:online` searches
        model = model.removesuffix(":floor")
    yield model
    yield _COMPACT_DATE.sub(r"-\1-\2-\3", model)
    yield undated(model)
