"""What setting up says, in the language of the person at the terminal; a program that reads the JSON gets English."""

from hob.core.translation.language import translated


def told(text: str, language: str) -> str:
    """The message in this language."""
    return translated(text, language)
