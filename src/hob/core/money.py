"""Amounts of money: counted in micro-dollars, shown in dollars."""

from hob.core.translation.language import Translatable, translatable

MICRO = 1_000_000
"""Micro-dollars per dollar."""


def dollars(micro: int) -> Translatable:
    """Format micro-dollars for people; small amounts keep all known digits."""
    amount = micro / MICRO
    figure = f"{amount:.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.6f}".rstrip("0")
    whole, _, part = figure.partition(".")
    return translatable("{whole}.{part}", whole=whole, part=f"{part:0<2}")


def price(micro: int) -> Translatable:
    """Format micro-dollars with the dollar sign."""
    return translatable("${dollars}", dollars=dollars(micro))
