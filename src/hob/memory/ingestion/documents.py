"""Documents as items, one per section, replacing the document's earlier ones."""

from hob.core.memory import Layer, MemoryItem, Scope
from hob.core.trust.labels import Label
from hob.memory.ingestion.splitting import split_sections


def items_of_document(
    text: str, name: str, *, scope: Scope, layer: Layer, label: Label, at: float, level: int = 6
) -> list[MemoryItem]:
    """Split a document into items; headings deeper than `level` do not start one. `at` is the document's date (Unix
    seconds).
    """
    return [
        MemoryItem(
            scope=scope,
            layer=layer,
            source=f"{layer}:{name}",
            text=section.text,
            label=label,
            at=at,
            session=name,
            position=section.first,
            kind="section",
            evidence=(f"{name}#L{section.first}-L{section.last}",),
        )
        for section in split_sections(text, name, level)
    ]
