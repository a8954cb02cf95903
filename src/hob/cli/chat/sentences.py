"""Sentences of the terminal chat, in the language of its settings."""

from hob.core.translation.language import translate


def say(message: str, language: str, **values: object) -> str:
    """Return the message in this language with the values filled in, which are shown as they are."""
    return translate(message, language).format_map(values)
