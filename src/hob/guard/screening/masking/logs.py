"""Logs: no known secret and no personal data in any line, traceback or argument."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hob.core.screening.kinds import PII

# Personal data: masked in logs, diagnostics, public exports and messages to strangers, nowhere else.
#
# Never in memory, never in a call's arguments: an assistant that forgets phone numbers is of no use.


def mask_personal(text: str) -> str:
    """The text without addresses, phone, card and other personal numbers."""
    from hob.core.screening.detectors import find  # loading takes some hundredths of a second

    found = find(text, PII)
    for finding in reversed(found):
        text = f"{text[: finding.start]}[{finding.kind.replace('_', ' ')} removed]{text[finding.end :]}"
    return text


class MaskingFormatter(logging.Formatter):
    """Formats as another does, then masks what came out, so that nothing in a record is forgotten."""

    def __init__(self, inner: logging.Formatter, mask: Callable[[str], str]) -> None:
        super().__init__()
        self._inner = inner
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """The line without secrets."""
        line = self._mask(self._inner.format(record))
        return line if getattr(record, "own", False) else mask_personal(line)


@contextmanager
def masked_logs(mask: Callable[[str], str]) -> Iterator[None]:
    """Mask what every handler of the root logger writes while the block is open."""
    changed = [(handler, handler.formatter) for handler in logging.getLogger().handlers]
    for handler, inner in changed:
        handler.setFormatter(MaskingFormatter(inner or logging.Formatter(), mask))
    try:
        yield
    finally:
        for handler, inner in changed:
            handler.setFormatter(inner)
