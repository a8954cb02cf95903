"""Canaries: secrets that must not be found anywhere after masking."""

from collections.abc import Iterable
from pathlib import Path

from hob.guard.screening.masking.mask import forms_of

CANARY = 'canary-Zq8/Lw+2m"xKt7Vb31'


def leaks(home: Path, texts: Iterable[str] = (), secret: str = CANARY) -> list[str]:
    """Return the files of the home, and the beginnings of these texts, that contain a form of the secret."""
    forms = [form.encode() for form in forms_of(secret)]
    files = [path for path in home.rglob("*") if path.is_file()]
    found = [path.name for path in files if _holds(path.read_bytes(), forms)]
    return found + [text[:40] for text in texts if _holds(text.encode(), forms)]


def _holds(data: bytes, forms: list[bytes]) -> bool:
    return any(form in data for form in forms)
