"""The page says what a code means in the words of the commands."""

import re
from pathlib import Path

from hob.cli.activity.timeline import TURN_WORDS
from hob.cli.chat.rendering.tool_calls import STATUS_NAMES
from hob.cli.trust.audit import KIND_WORDS, OUTCOME_WORDS
from hob.core.translation.code_words import FAULT_WORDS, STATE_WORDS

WEB = Path(__file__).parents[2] / "web" / "src"
WORDS = WEB / "parts" / "words.ts"


def test_codes_have_the_words_of_the_commands() -> None:
    source = WORDS.read_text("utf-8")
    found = {
        name: dict(re.findall(r'^  (\w+): "(.*)",$', rows, re.M))
        for name, rows in re.findall(r"^(?:export )?const (\w+): .*? = {(.*?)^};", source, re.M | re.S)
    }
    for name, codes, others in (
        ("WORDS", {**STATUS_NAMES, **STATE_WORDS, **FAULT_WORDS}, {"denied", "error", "skipped"}),
        ("AUDIT", {**KIND_WORDS, **OUTCOME_WORDS}, set[str]()),
        ("TURN", TURN_WORDS, set[str]()),
    ):
        page = found[name]
        assert {code: str(codes[code]) for code in page} == page
        assert {str(code) for code, text in codes.items() if str(text) != code} <= {*page, *others}
        german = (WEB / "i18n" / "de.ts").read_text("utf-8")
        assert [text for text in page.values() if f'\n  "{text}": ' not in german] == []
