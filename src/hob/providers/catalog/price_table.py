"""Price list in a file, written by another process and read line by line to save memory.

The first line is a header; each further line is the JSON of one provider: `names` (index of a model by its exact name),
`patterns` (index and name pattern: `=` equals, `^` starts with, `$` ends with, `*` contains, `~` matches, `|` any of,
`&` all of) and `models` (context window, then the prices with their start times). If several patterns match, the lowest
index counts.
"""

import asyncio
import json
import logging
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hob.core.models import Price
from hob.core.values import dataclass

FORMAT = 1
_SECONDS = 60.0

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PricedModel:
    """A model of the list: its context window, and its prices with their start times (Unix seconds)."""

    prices: tuple[tuple[float, Price | None], ...]
    context_tokens: int | None

    def price_at(self, now: float) -> Price | None:
        """Return the price valid at this time."""
        return next((price for since, price in reversed(self.prices) if since <= now), None)


class PriceTable:
    """Price list in a file. Nothing is found until `prepare` has written it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._gate = asyncio.Lock()
        self._gave_up = False
        self._head: dict[str, Any] | None = None
        self._places: dict[str, tuple[int, int]] = {}
        self._providers: dict[str, dict[str, Any] | None] = {}

    def is_ready(self) -> bool:
        """Whether there is a list; reads no more than its header."""
        if self._head is None:
            self._head = self._open()
        return self._head is not None

    async def prepare(self) -> None:
        """Write the list unless it exists for the installed prices. Never raises; failures are logged."""
        if self.is_ready():
            return
        async with self._gate:
            if self._gave_up or self.is_ready():
                return
            problem = await self._make()
            if not self.is_ready():
                self._gave_up = True
                log.warning("the list of prices cannot be made, so prices are unknown: %s", problem)

    def find(self, provider: str, model: str) -> PricedModel | None:
        """Return the model of this provider, or of a provider whose models it resells."""
        if not self.is_ready() or self._head is None:
            return None
        name = model.lower()
        for id in (provider, *self._head["fallbacks"].get(provider, ())):
            found = self._load(id)
            place = None if found is None else _place(found, name)
            if found is not None and place is not None:
                return _listed(found["models"][place])
        return None

    def has(self, provider: str) -> bool:
        """Whether the list has this provider."""
        return self.is_ready() and provider in self._places

    def provider_at(self, base_url: str) -> str | None:
        """Return the provider with this address."""
        if not self.is_ready() or self._head is None:
            return None
        return next((id for id, pattern in self._head["urls"].items() if re.match(pattern, base_url)), None)

    def _open(self) -> dict[str, Any] | None:
        try:
            with self._file.open("rb") as file:
                line = file.readline()
            head: dict[str, Any] = json.loads(line)
            if (head["format"], head["stamp"]) != (FORMAT, stamp()):
                return None
            offset = len(line)
            for id, size in head["bytes"].items():
                self._places[id] = (offset, size)
                offset += size + 1
        # missing, truncated or not ours: write it again
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None
        return head

    def _load(self, id: str) -> dict[str, Any] | None:
        if id not in self._providers:
            self._providers[id] = self._read(id) if id in self._places else None
        return self._providers[id]

    def _read(self, id: str) -> dict[str, Any] | None:
        offset, size = self._places[id]
        try:
            with self._file.open("rb") as file:
                file.seek(offset)
                found: dict[str, Any] = json.loads(file.read(size))
        except (OSError, ValueError) as error:
            log.warning("the list of prices cannot be read: %s; delete %s and start again", error, self._file)
            return None
        return found

    async def _make(self) -> str:
        """Run the process that writes the list, and return its error output."""
        made_from = stamp()
        if not made_from or not sys.executable:
            return "genai-prices is not installed"
        # -P: import nothing from the current directory
        command = (sys.executable, "-P", "-m", "hob.providers.catalog.price_snapshot", str(self._file), made_from)
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            child = await asyncio.create_subprocess_exec(*command, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE)
        except OSError as error:
            return str(error)
        try:
            async with asyncio.timeout(_SECONDS):
                _, complaint = await child.communicate()
        except TimeoutError:
            return f"it took more than {_SECONDS:g} seconds"
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        lines = complaint.decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else f"it ended with status {child.returncode}"


def stamp() -> str:
    """Return the version of the installed price data without importing it; empty if there is none."""
    spec = find_spec("genai_prices")
    if spec is None or spec.origin is None:
        return ""
    try:
        about = Path(spec.origin).with_name("data.py").stat()
    except OSError:
        return ""
    return f"{about.st_size}-{about.st_mtime_ns}"


def _place(provider: dict[str, Any], name: str) -> int | None:
    place: int | None = provider["names"].get(name)
    for number, kind, *rest in provider["patterns"]:
        if place is not None and number >= place:
            break
        if _fits(name, kind, rest):
            return int(number)
    return place


def _fits(name: str, kind: str, rest: Sequence[Any]) -> bool:
    match kind:
        case "=":
            return bool(name == rest[0])
        case "^":
            return name.startswith(rest[0])
        case "$":
            return name.endswith(rest[0])
        case "*":
            return rest[0] in name
        case "~":
            return re.search(rest[0], name) is not None
        case "|":
            return any(_fits(name, part[0], part[1:]) for part in rest)
        case _:
            return all(_fits(name, part[0], part[1:]) for part in rest)


def _listed(row: Sequence[Any]) -> PricedModel:
    window, *prices = row
    return PricedModel(tuple((since, None if price is None else _price(price)) for since, price in prices), window)


def _price(row: Sequence[Any]) -> Price:
    plain, output, read, write, write_1h, call, above = row
    dearer = tuple((start, _price((*rest, call, ()))) for start, *rest in above)
    return Price(plain, output, read, write, write_1h, call, dearer)
