"""Counts the package's statements against `budgets.toml`: `python -m tests.architecture.statements`, in `make check`.

What is counted are the `ast.stmt` nodes of every Python file that is shipped. A package that is over its budget fails;
only a commit that says why raises one. Budgets go down with what was taken out.
"""

import ast
import sys
import tomllib
from collections import Counter
from collections.abc import Mapping

from .sources import ROOT, sources

BUDGETS = ROOT / "budgets.toml"


def count() -> Counter[str]:
    """Statements by package; a module beside the packages counts as `hob`."""
    found: Counter[str] = Counter()
    for source in sources():
        package = "hob" if source.row.endswith(".py") else source.row
        found[package] += sum(isinstance(node, ast.stmt) for node in source.nodes)
    return found


def compare(counted: Mapping[str, int], budgets: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """A table of what there is and may be, and what is over."""
    rows = {**dict.fromkeys(sorted(budgets.keys() - {"total"}), 0), **counted, "total": sum(counted.values())}
    table = [f"{name:12} {rows[name]:7,} of {budgets.get(name, 0):7,}" for name in rows]
    return table, [name for name, found in rows.items() if found > budgets.get(name, 0)]


def main() -> int:
    table, over = compare(count(), tomllib.loads(BUDGETS.read_text("utf-8"))["statements"])
    print("Statements:", *table, sep="\n  ")
    if over:
        print(f"over budget: {', '.join(over)}. Take something out, or raise {BUDGETS.name} and say why in the commit.")
    return bool(over)


if __name__ == "__main__":
    sys.exit(main())
