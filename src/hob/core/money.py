"""Sums of money: counted in micro-dollars, told in dollars."""

from hob.core.translation.language import Translatable, translatable

MICRO = 1_000_000
"""Micro-dollars in a dollar."""


def dollars(micro: int) -> Translatable:
    """Micro-dollars as people write them; small sums with all that is known of them."""
    amount = micro / MICRO
    figure = f"{amount:.2f}" if amount >= 0.1 or amount == 0 else f"{amount:.6f}".rstrip("0")
    whole, _, part = figure.partition(".")
    return translatable("{whole}.{part}", whole=whole, part=f"{part:0<2}")


def price(micro: int) -> Translatable:
    """The same with the sign."""
    return translatable("${dollars}", dollars=dollars(micro))
