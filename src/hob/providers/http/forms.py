"""What is sent as a form rather than as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """A form (RFC 7578) with one file: its name, its bytes, its media type."""

    fields: Mapping[str, str]
    file: tuple[str, bytes, str]
