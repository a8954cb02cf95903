"""Rendering of approval questions: exactly what would be done, protected against spoofing.

Every line from the call is prefixed with a bar, so that no text in it can pass for a line of Hob's. Invisible
characters, text direction changes and long runs of blanks are spelled out. Long text is never cut silently: the number
of missing characters is shown, and chats accept no approval of a question that was cut.
"""

import json
import re
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from typing import Any

from hob.core.content.visible_text import is_visible
from hob.core.ids import ApprovalId
from hob.core.translation.language import say, translated
from hob.guard.approvals.question import Question
from hob.guard.policy.addresses import ascii_form
from hob.guard.policy.reasons import strip_rule

BAR = "│ "
"""Prefix of every line that comes from the call."""
_PLAIN = frozenset("\n\t")
TOO_LONG = "It is too long to be approved in a chat; `hob approvals show {id}`, then `hob approvals allow {id}`."
_SIGNS = {" ": "␣", "\t": "⇥"}
_WORD = re.compile(r"[\w.$-]{1,60}")
_BLANKS = re.compile(r"\t{9,}|[ \t]{81,}")


class LineKind(Enum):
    """The kinds of lines in a question."""

    HEAD = auto()
    TEXT = auto()
    ADDED = auto()
    REMOVED = auto()
    PLACE = auto()
    """The position, in its file, of the following lines."""


_KINDS = {"+": LineKind.ADDED, "-": LineKind.REMOVED, "@": LineKind.PLACE}


def render_question(question: Question, language: str = "en") -> str:
    """Return the whole question: the reason, the requester, the exact arguments and their consequences."""
    return "\n".join(line for line, _ in lines_of(question, language))


def lines_of(question: Question, language: str = "en") -> Iterator[tuple[str, LineKind]]:
    """Yield the lines of the whole question with their kinds.

    Parsed commands and the diff are shown in addition to the arguments, never instead. A single command that is
    literally an argument is not shown twice. Arguments that are not a JSON object are shown unparsed.
    """
    head, *rest = _call_lines(question, language)
    yield head, LineKind.HEAD
    yield from ((line, LineKind.TEXT) for line in rest)
    if question.diff:
        yield say(language, "which would change:"), LineKind.TEXT
        for line in _with_bar(question.diff.removesuffix("\n")):
            yield line, _KINDS.get(line[len(BAR) : len(BAR) + 1], LineKind.TEXT)


def _call_lines(question: Question, language: str) -> Iterator[str]:
    reason = visible(translated(strip_rule(question.reason), language))
    yield say(language, "{tool} needs your approval: {reason}.", tool=visible(question.tool), reason=reason)
    if question.requester not in ("", "local:owner", "api:owner"):
        yield say(language, "For {who}.", who=visible(question.requester))
    if question.directory:
        yield say(language, "In {directory}.", directory=visible(question.directory))
    for folder in question.unheld:
        told = "Files in {directory} may change before you answer: there are too many to keep a copy."
        yield say(language, told, directory=visible(folder))
    if question.commands and not question.is_command_an_argument():  # shown before text of arbitrary length
        yield say(language, "It would run:")
        yield from (BAR + _shorten_blanks(visible(command)) for command in question.commands)
    if isinstance(question.arguments, str):
        yield say(language, "arguments:")
        yield from _with_bar(question.arguments)
    else:
        for name, value in question.arguments.items():
            yield from _argument(name, value, language)


def shorten_question(shown: str, id: ApprovalId, limit: int, language: str = "en") -> str:
    """Return the question in about `limit` characters, with instructions for answering and a note on omissions."""
    if len(shown) <= limit:
        return f"{shown}\n{say(language, 'Answer with approve:{id} or deny:{id}.', id=id)}"
    head, tail = int(limit * 0.75), int(limit * 0.2)
    left = len(shown) - head - tail
    cut = say(
        language,
        "[… {left} of {all} characters are not shown here; `hob approvals show {id}` shows all …]",
        left=str(left),
        all=str(len(shown)),
        id=id,
    )
    how = say(language, TOO_LONG, id=id)
    return f"{shown[:head]}\n{cut}\n{BAR}{shown[-tail:]}\n{how}"


def visible(text: str) -> str:
    """Return the text on one line, with every invisible character spelled out."""
    return "".join(char if char not in _PLAIN and is_visible(char) else _spell_out(char) for char in text)


def _argument(name: str, value: Any, language: str) -> Iterable[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    # a name is the model's too, unless the tool takes only its own: it must not read like a sentence of Hob's
    shown = visible(name) if _WORD.fullmatch(name) else BAR + _shorten_blanks(visible(name))
    if "\n" not in text and len(text) <= 100:
        bare = text.strip()
        other = visible(ascii_form(bare)) if "." in bare and " " not in bare else ""
        yield f"{shown}:"
        told = f"   ({say(language, 'that is {name}', name=other)})" if other else ""
        yield f"{BAR}{_shorten_blanks(visible(text))}{told}"
        return
    yield say(language, "{name} ({count} characters):", name=shown, count=str(len(text)))
    yield from _with_bar(text)


def _with_bar(text: str) -> Iterable[str]:
    # only line feeds separate lines; other characters that terminals and chats treat as line ends are spelled out
    for line in text.split("\n"):
        yield BAR + _shorten_blanks(
            "".join(char if is_visible(char) or char == "\t" else _spell_out(char) for char in line)
        )


def _shorten_blanks(line: str) -> str:
    """Return the line without runs of blanks that would push the rest of it out of sight."""
    return _BLANKS.sub(lambda run: f"⟨{len(run[0])} {''.join(_SIGNS[each] for each in sorted(set(run[0])))}⟩", line)


def _spell_out(char: str) -> str:
    names = {"\n": "⏎", "\t": "⇥", "\r": "␍"}
    return names.get(char, f"⟨U+{ord(char):04X}⟩")
