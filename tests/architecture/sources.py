"""The package's source files, parsed."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "hob"


@dataclass(frozen=True)
class Source:
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.path.read_text("utf-8"))

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(ast.walk(self.tree))

    @property
    def name(self) -> str:
        return str(self.path.relative_to(PACKAGE))

    @property
    def row(self) -> str:
        return self.path.relative_to(PACKAGE).parts[0]


@cache
def sources() -> tuple[Source, ...]:
    return tuple(Source(path) for path in sorted(PACKAGE.rglob("*.py")))


def functions(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
