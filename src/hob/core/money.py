"""Sums of money: counted in micro-dollars, told in dollars."""

MICRO = 1_000_000
"""Micro-dollars in a dollar."""


def dollars(micro: int) -> str:
    """Micro-dollars as people write them; small sums with all that is known of them."""
    amount = micro / MICRO
    if amount >= 0.1 or amount == 0:
        return f"{amount:.2f}"
    whole, _, part = f"{amount:.6f}".rstrip("0").partition(".")
    return f"{whole}.{part:0<2}"
