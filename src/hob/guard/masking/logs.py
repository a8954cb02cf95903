"""Logs: no known secret and no personal data in any line, traceback or argument."""

import logging
from collections.abc import Callable

from hob.guard.masking.personal import mask_personal


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
        return mask_personal(line) if self._personal else line


def mask_logs(mask: Callable[[str], str], *, personal: bool = True) -> None:
    """Mask what every handler of the root logger writes from now on. Doing it twice masks once more, nothing else."""
    for handler in logging.getLogger().handlers:
        inner = handler.formatter or logging.Formatter()
        handler.setFormatter(MaskingFormatter(inner, mask, personal=personal))
