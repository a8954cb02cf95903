"""The catalogue of what Hob itself says."""

import string

import pytest

from hob.core.errors import BusyScope, ModelFault
from hob.core.translation.language import LANGUAGES, detect_language, translatable, translated
from hob.core.translation.language import say as say_text
from hob.core.translation.sentences import BUSY_SENTENCES, ENGLISH, FAULT_SENTENCES, Sentence, format_duration, say


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_fault_of_a_model_has_its_own_sentence() -> None:
    assert set(FAULT_SENTENCES) == set(ModelFault)
    assert len(set(FAULT_SENTENCES.values())) == len(ModelFault)


@pytest.mark.parametrize("fault", ModelFault)
def test_every_sentence_about_a_model_names_the_problem(fault: ModelFault) -> None:
    assert "detail" in placeholders(ENGLISH[FAULT_SENTENCES[fault]])


@pytest.mark.parametrize(
    ("seconds", "english", "german"),
    [
        (0.2, "1 second", "1 Sekunde"),
        (41.6, "42 seconds", "42 Sekunden"),
        (60, "1 minute", "1 Minute"),
        (119, "119 seconds", "119 Sekunden"),
        (121, "3 minutes", "3 Minuten"),
        (3600, "1 hour", "1 Stunde"),
        (18_000, "5 hours", "5 Stunden"),
    ],
)
def test_durations_are_formatted_for_people(seconds: float, english: str, german: str) -> None:
    assert (format_duration(seconds), format_duration(seconds, "de")) == (english, german)


def test_every_way_of_being_busy_has_a_sentence_that_says_when_to_try_again() -> None:
    assert set(BUSY_SENTENCES) == set(BusyScope)
    assert all("wait" in placeholders(ENGLISH[sentence]) for sentence in BUSY_SENTENCES.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_lines_say_how_to_connect_a_model(language: str) -> None:
    lines = say(Sentence.NO_MODEL, language, id="t_1", detail="set THE_KEY").splitlines()
    assert len(lines) == 2
    assert "set THE_KEY" in lines[0]
    assert "hob retry t_1" in lines[1]


def test_values_appear_in_the_sentence_unchanged() -> None:
    assert "{x}" in say(Sentence.HOOK_DENIED, detail="no {x} here")


def test_language_hob_does_not_speak_is_answered_in_english() -> None:
    assert say(Sentence.STOPPING, "fr") == say(Sentence.STOPPING, "en")


def test_missing_value_is_an_error_not_a_sentence_with_a_hole() -> None:
    with pytest.raises(KeyError):
        say(Sentence.CANCELLED)


def test_text_is_translated_with_its_nested_texts() -> None:
    named = translatable("{reason}, and {why}", reason=translatable("an attached file"), why="{odd}")
    assert named == "an attached file, and {odd}"
    assert translated(named, "de") == "ein Anhang, und {odd}"
    assert (
        say_text("de", "{reason}, and {why}", reason=translatable("an attached file"), why="x") == "ein Anhang, und x"
    )


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({"LANG": "de_AT.UTF-8"}, "de"),
        ({"LANG": "de_AT.UTF-8", "LC_MESSAGES": "en_GB"}, "en"),
        ({"LC_ALL": "de", "LC_MESSAGES": "en_GB", "LANG": "fr_FR"}, "de"),
        ({"LC_ALL": "", "LANG": "de.UTF-8"}, "de"),
        ({"LANG": "../../de"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_terminal_language_follows_its_locale(environ: dict[str, str], language: str) -> None:
    assert detect_language(environ) == language
