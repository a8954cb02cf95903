"""Logs: no known secret and no personal data in any line, traceback or argument."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hob.guard.screening.masking.personal import mask_personal


class MaskingFormatter(logging.Formatter):
    """Formats as another does, then masks what came out, so that nothing in a record is forgotten."""

    def __init__(self, inner: logging.Formatter, mask: Callable[[str], str], *, personal: bool = True) -> None:
        super().__init__()
        self._inner = inner
        self._mask = mask
        self._personal = personal

    def format(self, record: logging.LogRecord) -> str:
        """The line without secrets."""
        line = self._mask(self._inner.format(record))
        return mask_personal(line) if self._personal and not getattr(record, "own", False) else line


@contextmanager
def masked_logs(mask: Callable[[str], str], *, personal: bool = True) -> Iterator[None]:
    """Mask what every handler of the root logger writes while the block is open."""
    changed = [(handler, handler.formatter) for handler in logging.getLogger().handlers]
    for handler, inner in changed:
        handler.setFormatter(MaskingFormatter(inner or logging.Formatter(), mask, personal=personal))
    try:
        yield
    finally:
        for handler, inner in changed:
            handler.setFormatter(inner)
