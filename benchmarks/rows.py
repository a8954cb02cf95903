"""Measured figures with their limits and baselines, as a table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

_COLOURS = {"red": "31", "green": "32", "dim": "2", "bold": "1"}


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `limit` is its maximum, or its minimum with `at_least`; None if there is no limit.

    `baseline` is the same figure of a minimal comparable program, `beside` a description of that program.
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
        """Whether the figure is within its limit."""
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def ratio(self) -> float | None:
        """The figure as a multiple of its baseline."""
        return self.value / self.baseline if self.baseline else None

    def view(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        return asdict(self) | {"holds": self.holds, "ratio": self.ratio}


def render(rows: Sequence[Row], *, colour: bool) -> str:
    """Format the rows as an aligned table."""
    head = ("what", "measured", "limit", "", "baseline", "ratio", "the baseline is")
    lines = [head, *(_cells(row) for row in rows)]
    table = aligned(lines, left={0, 3, 6})
    if colour:
        table = [_painted(cells, None if number == 0 else rows[number - 1]) for number, cells in enumerate(table)]
    return joined(table)


def aligned(lines: Sequence[Sequence[str]], left: set[int]) -> list[list[str]]:
    """Pad the cells to the width of their columns; columns in `left` are aligned left."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        [
            text.ljust(width) if place in left else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in lines
    ]


def joined(table: Sequence[Sequence[str]]) -> str:
    """Join the cells into lines."""
    return "\n".join("  ".join(cells).rstrip() for cells in table)


def _cells(row: Row) -> tuple[str, ...]:
    limit = "" if row.limit is None else f"{'≥' if row.at_least else '≤'} {short(row.limit)}"
    holds = "" if row.limit is None else "holds" if row.holds else "MISSED"
    baseline = "" if row.baseline is None else short(row.baseline)
    ratio = "" if row.ratio is None else f"x {row.ratio:.3g}"
    return row.name, f"{short(row.value)} {row.unit}", limit, holds, baseline, ratio, row.beside


def short(value: float) -> str:
    """Format a number with three significant digits."""
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
