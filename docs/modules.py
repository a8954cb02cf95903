"""The list of modules: each one's first sentence, its settings and its numeric constants."""

import ast
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from hob.config.fields import walk
from hob.config.positions import dotted

SOURCE = Path(__file__).parent.parent / "src" / "hob"
_PARTS = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.operator, ast.unaryop, ast.expr_context)


def modules(sections: Mapping[str, type]) -> str:
    """Return the page: a list per folder of `src/hob`."""
    settings: dict[str, list[str]] = {}
    for name, section in sections.items():
        settings.setdefault(section.__module__, []).extend(dotted(path) for path, _ in walk({name: section}))
    lines = [
        "# Which module does what",
        "",
        "Search this page for the subject of a change, as `timeout`, `title` or `certificate`. Behind a module's",
        "sentence stand the [settings](settings.md) that it declares, and the constants in it that are numbers.",
        "The dashboard's page, in `web/`, is not on it.",
    ]
    files = sorted((file for file in SOURCE.rglob("*.py") if "migrations" not in file.parts), key=_place)
    for folder, inside in groupby(files, key=lambda file: file.parent):
        place = folder.relative_to(SOURCE.parent).as_posix()
        lines += ["", f"## `{place}`", ""]
        for file in inside:
            text = file.read_text("utf-8")
            tree = ast.parse(text)
            said = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())
            module = ".".join(file.relative_to(SOURCE.parent).with_suffix("").parts)
            held = [*settings.get(module, ()), *_numbers(tree, text)]
            numbers = "; ".join(f"`{each}`" for each in held)
            name = "" if file.name == "__init__.py" else f"- `{file.name}`: "
            lines += [f"{name}{said}{f' ({numbers})' if numbers else ''}", *([""] if not name else [])]
    return "\n".join(lines) + "\n"


def _place(file: Path) -> tuple[Path, bool, str]:
    """Sort key: folders in order, a package before its modules."""
    return file.parent, file.name != "__init__.py", file.name


def _numbers(tree: ast.Module, text: str) -> Iterator[str]:
    """Yield the numeric constants of a module as written."""
    lines = text.encode().splitlines(keepends=True)  # `ast.get_source_segment` would split the text for each constant
    for node in tree.body:
        if isinstance(node, ast.Assign) and _is_number(node.value):
            *before, last = lines[node.lineno - 1 : node.end_lineno]
            yield " ".join(b"".join((*before, last[: node.end_col_offset])).decode().split())


def _is_number(value: ast.expr) -> bool:
    parts = list(ast.walk(value))
    numbers = [part.value for part in parts if isinstance(part, ast.Constant)]
    plain = all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers)
    return bool(numbers) and plain and all(isinstance(part, _PARTS) for part in parts)
