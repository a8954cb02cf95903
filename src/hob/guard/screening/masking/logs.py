"""Log masking: no known secret and no personal data in any line, traceback or argument."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hob.core.screening.kinds import PII

# Personal data is masked only in logs, diagnostics, public exports and messages to strangers. It is not masked in
# memory or in a call's arguments: an assistant that forgets phone numbers is useless.


def mask_personal(text: str) -> str:
    """Remove addresses, telephone, card and other personal numbers from the text."""
    from hob.core.screening.detectors import find_sensitive  # this import takes some hundredths of a second

    found = find_sensitive(text, PII)
    for finding in reversed(found):
        text = f"{text[: finding.start]}[{finding.kind.replace('_', ' ')} removed]{text[finding.end :]}"
    return text


class MaskingFormatter(logging.Formatter):
    """Formats with another formatter, then masks the result, so that no part of a record is missed."""

    def __init__(self, inner: logging.Formatter, mask: Callable[[str], str]) -> None:
        super().__init__()
        self._inner = inner
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """Return the masked line."""
        line = self._mask(self._inner.format(record))
        return line if getattr(record, "own", False) else mask_personal(line)


@contextmanager
def masked_logs(mask: Callable[[str], str]) -> Iterator[None]:
    """Mask the output of every handler of the root logger within the block."""
    changed = [(handler, handler.formatter) for handler in logging.getLogger().handlers]
    for handler, inner in changed:
        handler.setFormatter(MaskingFormatter(inner or logging.Formatter(), mask))
    try:
        yield
    finally:
        for handler, inner in changed:
            handler.setFormatter(inner)
