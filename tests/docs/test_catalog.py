"""Every message has a translation that takes the same values, and what Hob reads is what translators wrote."""

import string

import pytest
from babel.messages.catalog import Message

from docs import catalog
from hob.core.translation.language import LANGUAGES

FURTHER = [language for language in LANGUAGES if language != "en"]


def forms(text: object) -> tuple[str, ...]:
    return tuple(text) if isinstance(text, tuple | list) else (str(text or ""),)


def entries(language: str) -> list[Message]:
    return [entry for entry in catalog.load(language) if entry.id]


def fields(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


@pytest.mark.parametrize("language", FURTHER)
def test_every_message_of_the_code_is_in_the_catalog_and_no_other(language: str) -> None:
    assert catalog.file_of(language, "po").read_bytes() == catalog.written(catalog.renewed(language)), "make catalog"


@pytest.mark.parametrize("language", FURTHER)
def test_every_message_is_translated(language: str) -> None:
    assert [entry.id for entry in entries(language) if not all(forms(entry.string))] == []


@pytest.mark.parametrize("language", FURTHER)
def test_translation_takes_the_values_of_its_message(language: str) -> None:
    wrong = [
        entry.id
        for entry in entries(language)
        for english, other in zip(forms(entry.id), forms(entry.string), strict=True)
        if fields(english) != fields(other)
    ]
    assert wrong == []


@pytest.mark.parametrize("language", FURTHER)
def test_compiled_catalog_is_the_written_one(language: str) -> None:
    assert catalog.file_of(language, "mo").read_bytes() == catalog.compiled(language), "make catalog"
