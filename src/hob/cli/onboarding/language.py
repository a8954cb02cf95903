"""The language of the setup: the terminal's for a person, English in JSON."""

from hob.core.translation.language import translated


def text_in(text: str, language: str) -> str:
    """Return the message in this language."""
    return translated(text, language)
