"""The page and the command line use the same words for codes."""

import re
from pathlib import Path

import hob
from hob.agent.prompt.builder import _MEMORIES, _NOTE
from hob.app.settings.sections import SECTIONS
from hob.cli.activity.timeline import SUBAGENT_WORDS, TURN_WORDS
from hob.cli.chat.rendering.tool_calls import STATUS_NAMES
from hob.cli.trust.audit import KIND_WORDS, OUTCOME_WORDS
from hob.core.translation.code_words import FAULT_WORDS, STATE_WORDS
from hob.providers.settings import TASKS

WEB = Path(__file__).parents[2] / "web" / "src"
WORDS = WEB / "parts" / "words.ts"


def tables() -> dict[str, dict[str, str]]:
    return {
        name: dict(re.findall(r'^  (\w+): "(.*)",$', rows, re.M))
        for name, rows in re.findall(
            r"^(?:export )?const (\w+): .*? = {(.*?)^};", WORDS.read_text("utf-8"), re.M | re.S
        )
    }


def test_codes_have_the_same_words_as_in_the_command_line() -> None:
    found = tables()
    for name, codes, others in (
        ("WORDS", {**SUBAGENT_WORDS, **STATUS_NAMES, **STATE_WORDS, **FAULT_WORDS}, {"denied", "error", "skipped"}),
        ("AUDIT", {**KIND_WORDS, **OUTCOME_WORDS}, set[str]()),
        ("TURN", TURN_WORDS, set[str]()),
    ):
        page = found[name]
        assert {code: str(codes[code]) for code in page} == page
        assert {str(code) for code, text in codes.items() if str(text) != code} <= {*page, *others}
        german = (WEB / "i18n" / "de.ts").read_text("utf-8")
        assert [text for text in page.values() if f'\n  "{text}": ' not in german] == []


def test_settings_sections_and_purposes_of_model_calls_have_titles_in_both_languages() -> None:
    found = tables()
    assert set(found["GROUPS"]) == set(SECTIONS)
    assert set(found["PURPOSES"]) >= set(TASKS)
    german = (WEB / "i18n" / "de.ts").read_text("utf-8")
    said = [text for name in ("GROUPS", "CHANNELS", "PURPOSES") for text in found[name].values()]
    assert [text for text in said if f'\n  "{text}": ' not in german] == []


def test_sections_of_a_prompt_have_names_in_both_languages() -> None:
    package = Path(hob.__file__).parent
    files = [*(package / "agent" / "prompt").glob("*.py"), *(package / "memory").glob("*.py")]
    code = "".join(each.read_text("utf-8") for each in files)
    named = r'(?:_measure|SectionSize)\("([^"]+)"|^ {12}\("([a-z ]+)", |parts = \[\("([a-z]+)"|^    name = "(.+)"$'
    names = {name for found in re.findall(named, code, re.M) for name in found if name} | {_MEMORIES, _NOTE}
    assert names >= {"identity", "clock", "history", "core profile", "goals", "expertise", "tools", "assessment"}
    german = "".join((WEB / "i18n" / f"{each}.ts").read_text("utf-8") for each in ("de", "de-places"))
    assert [name for name in sorted(names) if f'\n  "{name}": ' not in german] == []
