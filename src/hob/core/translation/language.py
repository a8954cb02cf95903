"""Translated messages, catalogs, plurals, and the terminal's language (LC_ALL, LC_MESSAGES, LANG).

The English text is the message id in the gettext catalogs of the other languages (`hob/locale`).
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

DOMAIN = "hob"
CATALOG_FOLDER = f"{__file__.rpartition('/core/')[0]}/locale"
LANGUAGES = ("en", "de")


class Translatable(str):
    """An English text that remembers its message and values, so that it can still be translated."""

    __slots__ = ("message", "values")

    message: str
    values: Mapping[str, object]

    def __new__(cls, message: str, values: Mapping[str, object]) -> "Translatable":
        made = super().__new__(cls, message.format_map(values))
        made.message = message
        made.values = values
        return made

    def __str__(self) -> "Translatable":
        """Return itself, so that an error's text stays translatable."""
        return self


def translatable(message: str, /, **values: object) -> Translatable:
    """Return the message with values for its placeholders; they may be translatable themselves."""
    return Translatable(message, values)


def verbatim(text: str) -> Translatable:
    """Return a text that is the same in every language: a name, a value to type."""
    return Translatable(_VERBATIM, {"text": text})


_VERBATIM = "{text}"


def join_texts(between: str, texts: Iterable[str]) -> Translatable:
    """Join texts with a separator; translatable ones stay translatable."""
    values = {f"text{number}": text for number, text in enumerate(texts)}
    return Translatable(between.join(f"{{{name}}}" for name in values), values)


def pack_text(text: Translatable) -> dict[str, Any]:
    """Return the message and its values as JSON, for another Hob process that shows them."""
    return {"message": text.message, "values": {name: _pack_value(value) for name, value in text.values.items()}}


def _pack_value(value: object) -> object:
    if isinstance(value, Translatable):
        return pack_text(value)
    return value if isinstance(value, str | int | float) else str(value)


def unpack_text(seen: Mapping[str, Any]) -> Translatable:
    """Restore a packed text. Raises KeyError or ValueError for anything else."""
    values = {name: unpack_text(value) if isinstance(value, dict) else value for name, value in seen["values"].items()}
    return Translatable(seen["message"], values)


def collect_texts(value: object) -> dict[str, Any]:
    """Return the translatable texts in a JSON value, packed, by their English text."""
    if isinstance(value, Translatable):
        return {str.__str__(value): pack_text(value)}
    found = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return {english: text for each in found for english, text in collect_texts(each).items()}


def restore_texts(value: Any, texts: Mapping[str, Any]) -> Any:
    """Return the value with these texts translatable again. Raises like `unpack_text`."""
    if isinstance(value, str):
        return unpack_text(texts[value]) if value in texts else value
    if isinstance(value, dict):
        return {name: restore_texts(each, texts) for name, each in value.items()}
    return [restore_texts(each, texts) for each in value] if isinstance(value, list) else value


def translated(text: str, language: str) -> str:
    """Return the text in this language; unchanged if it is not in the catalog."""
    if not isinstance(text, Translatable):
        return translate(text, language)
    if text.message == _VERBATIM:
        return str.__str__(text)
    return say(language, text.message, **text.values)


def translate(message: str, language: str) -> str:
    """Return the message in this language with unfilled placeholders; English if it is not in the catalog."""
    if language == "en" or not message:
        return message
    told = str(_catalog(language).gettext(message))
    return _WithLocalNumbers(told) if ":" in told else told


def translate_plural(one: str, many: str, count: int, language: str) -> str:
    """Return the plural form of the message for this count, with unfilled placeholders."""
    if language == "en":
        return one if count == 1 else many
    return str(_catalog(language).ngettext(one, many, count))


class _WithLocalNumbers(str):
    """A translation that formats numbers with decimal comma and point as separator of thousands."""

    __slots__ = ()

    def format(self, *args: object, **values: object) -> str:
        return self._filled(args, values)

    def format_map(self, values: Any, /) -> str:
        return self._filled((), values)

    def _filled(self, args: tuple[object, ...], values: Mapping[str, object]) -> str:
        from string import Formatter

        formatter = Formatter()
        setattr(formatter, "format_field", _format_number)  # noqa: B010 - a method of one object
        return formatter.vformat(self, args, values)


def _format_number(value: object, form: str) -> str:
    told = format(value, form)
    return (
        told.translate(NUMBER_SEPARATORS) if isinstance(value, int | float) and form[-1:] in (",", "f", "g") else told
    )


NUMBER_SEPARATORS = str.maketrans(",.", ".,")
"""Maps English number separators to those of the other languages."""


def say(language: str, message: str, **values: object) -> str:
    """Return the message in this language with filled placeholders. Raises KeyError for a missing value."""
    return translate(message, language).format_map(
        {name: translated(value, language) if isinstance(value, str) else value for name, value in values.items()}
    )


def detect_language(environ: Mapping[str, str]) -> str:
    """Return the terminal's language by LC_ALL, LC_MESSAGES and LANG (POSIX.1-2024, XBD 8.2); English if unknown."""
    locale = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    code = locale.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else "en"


@cache
def _catalog(language: str) -> Any:
    import gettext  # not needed for English

    if language not in LANGUAGES:
        return gettext.NullTranslations()
    return gettext.translation(DOMAIN, CATALOG_FOLDER, [language], fallback=True)
