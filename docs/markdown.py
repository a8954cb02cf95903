"""Markdown for parts of the code. Types and defaults are shown as in the source."""

import ast
import dataclasses
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from typing import Any, is_typeddict

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def field_table(cls: type) -> list[str]:
    """Return a dataclass's fields as a table."""
    rows = ["| field | type | default |", "|---|---|---|"]
    for name, kind, default in _declared(cls):
        rows.append(f"| `{name}` | {cell(kind)} | {f'`{cell(default)}`' if default else ''} |")
    return rows


def _declared(cls: type) -> Iterator[tuple[str, str, str]]:
    """Yield name, type and default of a dataclass's fields as in its source; at run time aliases are resolved."""
    for node in _source_of(cls).body:
        if isinstance(node, ast.AnnAssign):
            default = "" if node.value is None else ast.unparse(node.value)
            yield ast.unparse(node.target), ast.unparse(node.annotation), default


def answer_words(cls: Any) -> tuple[str, dict[str, str]]:
    """Split an answer's docstring into its description and its `field: words` lines, including base classes."""
    try:
        node = _source_of(cls)
    except (OSError, TypeError):  # created by a call
        return inspect.getdoc(cls) or "", {}
    names, words, text, name = vars(sys.modules[cls.__module__]), dict[str, str](), list[str](), ""
    for base in node.bases if isinstance(node, ast.ClassDef) else ():
        if isinstance(base, ast.Name) and is_typeddict(names[base.id]):
            words |= answer_words(names[base.id])[1]
    for line in (ast.get_docstring(node) or "").splitlines():
        found = re.match(r"(\w+): ", line)
        if found and found[1] in cls.__annotations__:
            name = found[1]
            words[name] = line[found.end() :]
        elif name:
            words[name] += f" {line.strip()}"
        else:
            text.append(line)
    return "\n".join(text).strip(), words


def signature(name: str, thing: Any) -> str:
    """Return the signature of a class or function."""
    node = _source_of(thing)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        before = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
        result = "" if node.returns is None else f" -> {ast.unparse(node.returns)}"
        return f"{before}{name}({_arguments(node)}){result.removesuffix(' -> None')}"
    if inspect.isclass(thing) and dataclasses.is_dataclass(thing):
        fields = (f"{field}: {kind}{default and f' = {default}'}" for field, kind, default in _declared(thing))
        return f"{name}({', '.join(fields)})"
    for inner in node.body:
        if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
            return f"{name}({_arguments(inner).removeprefix('self').removeprefix(', ')})"
    return name


def _arguments(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return ast.unparse(node.args)


def _source_of(thing: Any) -> Definition:
    node = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    if not isinstance(node, Definition):
        raise TypeError(f"{thing} is neither a class nor a function")
    return node


def doc(thing: Any) -> str:
    """Return a docstring on one line."""
    return inspect.cleandoc(thing.__doc__ or "").replace("\n\n", "\n").replace("\n", " ").strip()


def cell(text: str) -> str:
    """Return the text escaped for a table cell."""
    return text.replace("|", "\\|")


def fenced(text: str, language: str = "text") -> list[str]:
    """Return the text as a code block."""
    return [f"```{language}", *text.splitlines(), "```"]
