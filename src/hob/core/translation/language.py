"""Translated messages, catalogs, plurals, and which language a terminal has (LC_ALL, LC_MESSAGES, LANG).

The English text is the message's id in the gettext catalog of each further language (`hob/locale`).
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

DOMAIN = "hob"
CATALOGS = f"{__file__.rpartition('/core/')[0]}/locale"
LANGUAGES = ("en", "de")


class Translatable(str):
    """An English text that remembers its message and the values in it, so that it can still be translated."""

    __slots__ = ("message", "values")

    message: str
    values: Mapping[str, object]

    def __new__(cls, message: str, values: Mapping[str, object]) -> "Translatable":
        made = super().__new__(cls, message.format_map(values))
        made.message = message
        made.values = values
        return made

    def __str__(self) -> "Translatable":
        """Itself, so that an error that says it still says it in every language."""
        return self


def translatable(message: str, /, **values: object) -> Translatable:
    """The message with these values in its placeholders; they may be translatable themselves."""
    return Translatable(message, values)


def verbatim(text: str) -> Translatable:
    """A text that stays as it is in every language: a name, a value to be typed."""
    return Translatable(_VERBATIM, {"text": text})


_VERBATIM = "{text}"


def joined(between: str, texts: Iterable[str]) -> Translatable:
    """The texts with this between them; those that can be translated still can."""
    values = {f"text{number}": text for number, text in enumerate(texts)}
    return Translatable(between.join(f"{{{name}}}" for name in values), values)


def packed(text: Translatable) -> dict[str, Any]:
    """The message and its values as JSON, for another process of Hob's that shows them to a person."""
    return {"message": text.message, "values": {name: _packed(value) for name, value in text.values.items()}}


def _packed(value: object) -> object:
    if isinstance(value, Translatable):
        return packed(value)
    return value if isinstance(value, str | int | float) else str(value)


def unpacked(seen: Mapping[str, Any]) -> Translatable:
    """What was packed. Raises KeyError or ValueError for what was not."""
    values = {name: unpacked(value) if isinstance(value, dict) else value for name, value in seen["values"].items()}
    return Translatable(seen["message"], values)


def texts_in(value: object) -> dict[str, Any]:
    """The texts in a JSON value that can be translated, packed, by their English."""
    if isinstance(value, Translatable):
        return {str.__str__(value): packed(value)}
    found = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return {english: text for each in found for english, text in texts_in(each).items()}


def with_texts(value: Any, texts: Mapping[str, Any]) -> Any:
    """The value with these texts translatable again. Raises as `unpacked` does."""
    if isinstance(value, str):
        return unpacked(texts[value]) if value in texts else value
    if isinstance(value, dict):
        return {name: with_texts(each, texts) for name, each in value.items()}
    return [with_texts(each, texts) for each in value] if isinstance(value, list) else value


def translated(text: str, language: str) -> str:
    """The text in this language; as it is, in English, where the catalog does not know it."""
    if not isinstance(text, Translatable):
        return translate(text, language)
    if text.message == _VERBATIM:
        return str.__str__(text)
    return say(language, text.message, **text.values)


def translate(message: str, language: str) -> str:
    """The message in this language, placeholders unfilled; in English where the catalog does not know it."""
    if language == "en" or not message:
        return message
    told = str(_catalog(language).gettext(message))
    return _WithFigures(told) if ":" in told else told


def translate_plural(one: str, many: str, count: int, language: str) -> str:
    """The form of the message for this count, placeholders unfilled."""
    if language == "en":
        return one if count == 1 else many
    return str(_catalog(language).ngettext(one, many, count))


class _WithFigures(str):
    """A translation; figures in its placeholders get a comma where English has a point, and the other way round."""

    __slots__ = ()

    def format(self, *args: object, **values: object) -> str:
        return self._filled(args, values)

    def format_map(self, values: Any, /) -> str:
        return self._filled((), values)

    def _filled(self, args: tuple[object, ...], values: Mapping[str, object]) -> str:
        from string import Formatter

        formatter = Formatter()
        setattr(formatter, "format_field", _figure)  # noqa: B010 - a method of one object
        return formatter.vformat(self, args, values)


def _figure(value: object, form: str) -> str:
    told = format(value, form)
    return told.translate(SEPARATORS) if isinstance(value, int | float) and form[-1:] in (",", "f", "g") else told


SEPARATORS = str.maketrans(",.", ".,")
"""From English figures to those of the other languages."""


def say(language: str, message: str, **values: object) -> str:
    """The message in this language, with these values in its placeholders. Raises KeyError for a missing one."""
    return translate(message, language).format_map(
        {name: translated(value, language) if isinstance(value, str) else value for name, value in values.items()}
    )


def language_of(environ: Mapping[str, str]) -> str:
    """The language of a terminal by LC_ALL, LC_MESSAGES and LANG (POSIX.1-2024, XBD 8.2); English if Hob lacks it."""
    locale = environ.get("LC_ALL") or environ.get("LC_MESSAGES") or environ.get("LANG") or ""
    code = locale.replace("-", "_").partition("_")[0].partition(".")[0].lower()
    return code if code in LANGUAGES else "en"


@cache
def _catalog(language: str) -> Any:
    import gettext  # English does without it

    if language not in LANGUAGES:
        return gettext.NullTranslations()
    return gettext.translation(DOMAIN, CATALOGS, [language], fallback=True)
