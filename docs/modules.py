"""Which module does what: each module's first sentence, and the numbers that stand in it."""

import ast
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "hob"
_PARTS = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)


def modules() -> str:
    """The page: a list per folder of `src/hob`."""
    lines = [
        "# Which module does what",
        "",
        "Search this page for the subject of a change, as `timeout`, `title` or `certificate`. Behind a module's",
        "sentence stand the constants in it that are numbers. Settings are [listed apart](settings.md).",
    ]
    files = sorted((file for file in SOURCE.rglob("*.py") if "migrations" not in file.parts), key=_place)
    for folder, inside in groupby(files, key=lambda file: file.parent):
        place = folder.relative_to(SOURCE.parent).as_posix()
        lines += ["", f"## `{place}`", ""]
        for file in inside:
            text = file.read_text("utf-8")
            tree = ast.parse(text)
            said = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())
            numbers = "; ".join(f"`{number}`" for number in _numbers(tree, text))
            name = "" if file.name == "__init__.py" else f"- `{file.name}`: "
            lines += [f"{name}{said}{f' ({numbers})' if numbers else ''}", *([""] if not name else [])]
    return "\n".join(lines) + "\n"


def _place(file: Path) -> tuple[Path, bool, str]:
    """Folders in order, a package's own sentence before its modules."""
    return file.parent, file.name != "__init__.py", file.name


def _numbers(tree: ast.Module, text: str) -> Iterator[str]:
    """Constants of a module that are numbers, as they are written there."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and _is_number(node.value):
            yield " ".join((ast.get_source_segment(text, node) or "").split())


def _is_number(value: ast.expr) -> bool:
    parts = list(ast.walk(value))
    numbers = [part.value for part in parts if isinstance(part, ast.Constant)]
    plain = all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers)
    return bool(numbers) and plain and all(isinstance(part, _PARTS) for part in parts)
