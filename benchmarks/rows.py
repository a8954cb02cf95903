"""A measured figure, its limit and its baseline; and many of them as a table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

_COLOURS = {"red": "31", "green": "32", "dim": "2", "bold": "1"}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `limit` is the most it may be, or the least with `at_least`; None: nothing was promised.

    `baseline` is the same figure of a program that does the least that could be called the same, `beside` its name.
    """

    name: str
    value: float
    unit: str
    limit: float | None = None
    at_least: bool = False
    baseline: float | None = None
    beside: str = ""

    @property
    def holds(self) -> bool:
        """Whether the promise is kept."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def ratio(self) -> float | None:
        """The figure in multiples of its baseline."""
        return self.value / self.baseline if self.baseline else None

    def view(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"holds": self.holds, "ratio": self.ratio}


def render(rows: Sequence[Row], *, colour: bool) -> str:
    """The rows as an aligned table."""
    head = ("what", "measured", "limit", "", "baseline", "ratio", "the baseline is")
    lines = [head, *(_cells(row) for row in rows)]
    table = aligned(lines, left={0, 3, 6})
    if colour:
        table = [_painted(cells, None if number == 0 else rows[number - 1]) for number, cells in enumerate(table)]
    return joined(table)


def aligned(lines: Sequence[Sequence[str]], left: set[int]) -> list[list[str]]:
    """The cells, as wide as their columns; those of the columns in `left` begin at the left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        [
            text.ljust(width) if place in left else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]


def joined(table: Sequence[Sequence[str]]) -> str:
    """The lines of a table."""
    return "\n".join("  ".join(cells).rstrip() for cells in table)


def _cells(row: Row) -> tuple[str, ...]:
    limit = "" if row.limit is None else f"{'≥' if row.at_least else '≤'} {short(row.limit)}"
    holds = "" if row.limit is None else "holds" if row.holds else "MISSED"
    baseline = "" if row.baseline is None else short(row.baseline)
    ratio = "" if row.ratio is None else f"x {row.ratio:.3g}"
    return row.name, f"{short(row.value)} {row.unit}", limit, holds, baseline, ratio, row.beside


def short(value: float) -> str:
    """A number with three digits that count."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1g}"


def _painted(cells: list[str], row: Row | None) -> list[str]:
    if row is None:
        return [f"\033[{_COLOURS['bold']}m{cell}\033[0m" for cell in cells]
    painted = list(cells)
    if row.limit is not None:
        painted[3] = f"\033[{_COLOURS['green' if row.holds else 'red']}m{cells[3]}\033[0m"
    for place in (4, 5, 6):
        painted[place] = f"\033[{_COLOURS['dim']}m{cells[place]}\033[0m"
    return painted
