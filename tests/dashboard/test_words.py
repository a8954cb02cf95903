"""The page says what a code means in the words of the commands."""

import re
from pathlib import Path

from hob.cli.chat.rendering.tool_calls import STATUS_NAMES
from hob.core.translation.code_words import FAULT_WORDS, STATE_WORDS

WEB = Path(__file__).parents[2] / "web" / "src"
WORDS = WEB / "parts" / "words.ts"


def test_codes_have_the_words_of_the_commands() -> None:
    page = dict(re.findall(r'^  (\w+): "(.*)",$', WORDS.read_text("utf-8"), re.M))
    codes = {**STATUS_NAMES, **STATE_WORDS, **FAULT_WORDS}
    assert page
    assert {code: str(codes[code]) for code in page} == page
    assert {code for code, text in codes.items() if str(text) != code} <= {*page, "denied", "error", "skipped"}
    german = (WEB / "i18n" / "de.ts").read_text("utf-8")
    assert [text for text in page.values() if f'\n  "{text}": ' not in german] == []
