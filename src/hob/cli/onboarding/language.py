"""The language of setting up: the terminal's for a person, English for a program that reads the JSON."""

from hob.core.translation.language import translated


def text_in(text: str, language: str) -> str:
    """The message in this language."""
    return translated(text, language)
