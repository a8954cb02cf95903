"""Readable forms of notebooks and tables."""

import csv
from typing import Any

from hob.core.content.json_text import parse_json_object

_MAX_COLUMNS = 40
_OUTPUT = 2_000  # characters of a cell's output


def notebook_text(text: str) -> str | None:
    """Format a Jupyter notebook (https://nbformat.readthedocs.io, version 4) as cells; None for other text."""
    cells = (parse_json_object(text) or {}).get("cells")
    if not isinstance(cells, list):
        return None
    parts = []
    for n, cell in enumerate(cells, start=1):
        if isinstance(cell, dict):
            kind = cell.get("cell_type", "cell")
            parts.append(f"[cell {n}, {kind}]\n{_joined(cell.get('source'))}")
            outputs = cell.get("outputs")
            shown = [_output(each) for each in outputs] if isinstance(outputs, list) else []
            if any(shown):
                parts.append(f"[output of cell {n}]\n" + "\n".join(each for each in shown if each))
    return "\n\n".join(parts)


def describe_columns(text: str, name: str) -> str:
    """Summarise the columns of a table file in one line; empty for other files."""
    if not name.lower().endswith((".csv", ".tsv")):
        return ""
    sample = text[:4_000]
    try:
        dialect = csv.Sniffer().sniff(sample, ",;\t|")
        columns = next(iter(csv.reader(sample.splitlines(), dialect)), [])
    except csv.Error:
        return ""
    names = ", ".join(columns[:_MAX_COLUMNS])
    return f"a table of {len(columns)} columns separated by {dialect.delimiter!r}: {names[:500]}"


def _output(output: Any) -> str:
    if not isinstance(output, dict):
        return ""
    data = output.get("data")
    if isinstance(data, dict):
        pictures = [str(kind) for kind in data if str(kind).startswith("image/")]
        text = _joined(data.get("text/plain")) + "".join(f"\n({kind} left out)" for kind in pictures)
    elif output.get("output_type") == "error":
        text = f"{output.get('ename')}: {output.get('evalue')}"
    else:
        text = _joined(output.get("text"))
    return text if len(text) <= _OUTPUT else f"{text[:_OUTPUT]} [… {len(text) - _OUTPUT:,} more characters]"


def _joined(source: Any) -> str:
    """Join a text that is stored as a whole or as a list of lines."""
    return "".join(str(part) for part in source) if isinstance(source, list) else str(source or "")
