"""Write the prices of `genai-prices` to one small file: `python -m hob.providers.catalog.price_snapshot FILE STAMP`.

The only module that imports `genai_prices` (https://github.com/pydantic/genai-prices): the import costs half a second
of CPU and a hundred megabytes, so it runs in a separate process. `hob.providers.catalog.price_table` describes the
format.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import Any

from genai_prices.data import providers
from genai_prices.types import (
    ClauseAnd,
    ClauseContains,
    ClauseEndsWith,
    ClauseEquals,
    ClauseOr,
    ClauseRegex,
    ClauseStartsWith,
    MatchLogic,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

from hob.providers.catalog.price_table import FORMAT

_INPUT_ONLY = re.compile(r"embed|rerank|^(?:@cf/baai/|baai/)?(?:bge|gte)-|^voyage-", re.IGNORECASE)
"""Models without billable output; for all others, a price for input alone does not count."""

Row = tuple[int, int, int, int, int | None]
"""Prices of input, output, cache reads, cache writes and one-hour cache writes; micro-dollars per million tokens."""


def snapshot(stamp: str, today: date) -> Iterator[str]:
    """Return the lines of the file: a header, then one line per provider."""
    rows = [json.dumps(_provider(provider, today), separators=(",", ":")) for provider in providers]
    head = {
        "format": FORMAT,
        "stamp": stamp,
        "bytes": {provider.id: len(row) for provider, row in zip(providers, rows, strict=True)},
        "urls": {provider.id: provider.api_pattern for provider in providers},
        "fallbacks": {p.id: p.fallback_model_providers for p in providers if p.fallback_model_providers},
    }
    yield json.dumps(head, separators=(",", ":"))
    yield from rows


def _provider(provider: Provider, today: date) -> dict[str, Any]:
    names: dict[str, int] = {}
    patterns: list[Any] = []
    for place, model in enumerate(provider.models):
        for clause in model.match.or_ if isinstance(model.match, ClauseOr) else [model.match]:
            if isinstance(clause, ClauseEquals):
                names.setdefault(clause.equals.lower(), place)
            else:
                patterns.append([place, *_clause(clause)])
    return {"names": names, "patterns": patterns, "models": [_model_row(model, today) for model in provider.models]}


def _clause(clause: MatchLogic) -> list[Any]:
    match clause:
        case ClauseEquals(text):
            return ["=", text.lower()]
        case ClauseStartsWith(text):
            return ["^", text.lower()]
        case ClauseEndsWith(text):
            return ["$", text.lower()]
        case ClauseContains(text):
            return ["*", text.lower()]
        case ClauseRegex(text):
            return ["~", text]
        case ClauseOr(parts):
            return ["|", *map(_clause, parts)]
        case ClauseAnd(parts):
            return ["&", *map(_clause, parts)]


def _model_row(model: ModelInfo, today: date) -> list[Any]:
    """Return the context window, then each price that is valid from today on, with its start."""
    days = sorted({start for start in _starts(model) if start > today})
    prices: list[list[Any]] = [[0, _most_expensive(model, today)]]
    prices += [[datetime.combine(day, time(), UTC).timestamp(), _most_expensive(model, day)] for day in days]
    return [model.context_window, *prices]


def _starts(model: ModelInfo) -> Iterator[date]:
    if not isinstance(model.prices, ModelPrice):
        for price in model.prices:
            if isinstance(price.constraint, StartDateConstraint):
                yield price.constraint.start_date


def _most_expensive(model: ModelInfo, day: date) -> list[Any] | None:
    """Return the price on this day; the highest of the day, so that a budget does not react too late."""
    possible: list[ModelPrice] = []
    if isinstance(model.prices, ModelPrice):
        possible.append(model.prices)
    else:
        for price in reversed(model.prices):  # the last one that applies counts
            if isinstance(price.constraint, StartDateConstraint) and price.constraint.start_date > day:
                continue
            possible.append(price.prices)
            if not isinstance(price.constraint, TimeOfDateConstraint):
                break
    found = [row for price in possible if (row := _price(model.id, price)) is not None]
    return max(found, key=lambda row: (row[1], row[0])) if found else None


def _price(id: str, price: ModelPrice) -> list[Any] | None:
    base = _price_row(id, price, 0)
    if base is None:
        return None
    tiered = [value for value in vars(price).values() if isinstance(value, TieredPrices)]
    starts = sorted({tier.start for value in tiered for tier in value.tiers})
    above = [[start, *row] for start in starts if (row := _price_row(id, price, start + 1)) is not None]
    return [*base, _micro(price.requests_kcount, 0) // 1000 if price.requests_kcount else 0, above]


def _price_row(id: str, price: ModelPrice, tokens: int) -> Row | None:
    """Return the prices of a call with this many input tokens. Cached tokens without a price cost the normal rate."""
    if price.input_mtok is None or (price.output_mtok is None and not _INPUT_ONLY.search(id)):
        return None
    plain = _micro(price.input_mtok, tokens)
    outputs: Sequence[Decimal | TieredPrices | None] = (
        price.output_mtok, price.output_reasoning_mtok, price.output_citation_mtok,
    )  # fmt: skip
    write = plain if price.cache_write_mtok is None else _micro(price.cache_write_mtok, tokens)
    return (
        plain,
        max(_micro(value, tokens) if value is not None else 0 for value in outputs),
        plain if price.cache_read_mtok is None else _micro(price.cache_read_mtok, tokens),
        write,
        None if price.cache_write_1h_mtok is None else _micro(price.cache_write_1h_mtok, tokens),
    )


def _micro(value: Decimal | TieredPrices, tokens: int) -> int:
    if isinstance(value, TieredPrices):
        reached = [tier.price for tier in value.tiers if tokens > tier.start]
        value = reached[-1] if reached else value.base
    return int((value * 1_000_000).to_integral_value(ROUND_CEILING))


def write(file: Path, stamp: str, today: date) -> None:
    """Write the list atomically."""
    part = file.with_name(f"{file.name}.{os.getpid()}")
    part.write_text("".join(f"{line}\n" for line in snapshot(stamp, today)), "ascii")
    part.replace(file)


if __name__ == "__main__":
    os.nice(5)
    write(Path(sys.argv[1]), sys.argv[2], datetime.now(UTC).date())
