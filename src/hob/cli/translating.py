"""Translation of what commands print: `_("{name} is there", name=name)` and `ngettext`.

The language is chosen in `hob.core.translation.language`.
"""

from hob.config.environment import process_environment
from hob.core.translation.language import detect_language, say, translatable, translate_plural, translated


def terminal_language() -> str:
    """Return the language of LC_ALL, LC_MESSAGES or LANG."""
    return detect_language(process_environment())


def _(message: str, /, **values: object) -> str:
    """Return the message in the terminal's language with the values filled in; a `Translatable` has its own."""
    text = translated(message, terminal_language())
    return text.format(**values) if values else text


def ngettext(one: str, many: str, count: int, **values: object) -> str:
    """Return the message's form for this count, with the count and further values filled in."""
    return translate_plural(one, many, count, terminal_language()).format(count=count, **values)


_FIRST_OF = translatable("the first of {server}", server="")


def model_line(line: str, language: str) -> str:
    """Return a model and why it is used, as `MODEL (REASON)`, in this language."""
    if (told := translated(line, language)) != line:
        return told
    name, _bracket, reason = line.rpartition(" (")
    if name.startswith(_FIRST_OF):
        name = say(language, _FIRST_OF.message, server=name.removeprefix(_FIRST_OF))
    return f"{name} ({translated(reason[:-1], language)})" if name else line
