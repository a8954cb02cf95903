"""Grouping of text into sections."""

from collections.abc import Iterable, Iterator

from hob.core.content.documents import DocumentSection


def by_heading(blocks: Iterable[tuple[bool, str]]) -> Iterator[DocumentSection]:
    """Group blocks, each a heading or a text, into sections."""
    heading, texts = "", list[str]()
    for is_heading, text in blocks:
        if not is_heading:
            texts.append(text)
            continue
        if heading or any(texts):
            yield DocumentSection("\n".join(texts), heading)
        heading, texts = " ".join(text.split()), []
    if heading or any(texts):
        yield DocumentSection("\n".join(texts), heading)
