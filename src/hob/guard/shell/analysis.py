"""Entry point of the shell analysis: from command text to simple commands."""

import re

from hob.core.translation.language import translatable
from hob.guard.shell.arguments import ANY
from hob.guard.shell.commands import Analysis, SimpleCommand
from hob.guard.shell.shell_interpreter import ShellInterpreter, TooManyCommands
from hob.guard.shell.tree import SyntaxProblem

LONGEST = 65_536  # characters analysed; longer text is reported as a problem

_MAX_READINGS = 4
_DECEPTIVE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200c\u200e\u200f"
    "\u2028-\u202f\u205f-\u206f\u3000\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\uffff\U000e0000-\U000e0fff]"
    "|(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d"  # outside emoji
)


def analyse(command: str) -> Analysis:
    """Return every command that the text would run. Pure, never raises, and linear in the text, of which 64 kB are
    read.
    """
    problems: list[SyntaxProblem] = []
    text = command
    if len(text) > LONGEST:
        problems.append(SyntaxProblem("it is too long to be read", text[:80]))
        text = text[:LONGEST]
    text, strange = strip_deceptive(text)
    problems.extend(strange)
    first = _reading(text, 0, "")
    more = [_reading(text, choice, "") for choice in range(1, min(first.widest, _MAX_READINGS))]
    if first.met_unset:
        more.append(_reading(text, max(0, first.widest - 1), ANY))
    commands = tuple(first.commands)
    seen: set[SimpleCommand] = set(commands) if more else set()
    others: list[SimpleCommand] = []
    for reading in more:
        for each in reading.commands:
            if each not in seen:
                seen.add(each)
                others.append(each)
    functions = tuple(first.state.functions)
    found = dict.fromkeys(problems)
    bombs: dict[str, None] = {}
    for reading in (first, *more):
        found.update(reading.problems)
        bombs.update(reading.bombs)
    return Analysis(command, commands, tuple(others), tuple(found), tuple(bombs), functions)


def _reading(text: str, choice: int, unset: str) -> ShellInterpreter:
    walker = ShellInterpreter(choice, unset)
    try:
        walker.whole(text)
    # each limit alone leaves room on the stack; all of them together might not
    except (TooManyCommands, RecursionError):
        walker.problem("there is too much in it to follow", text)
    return walker


def strip_deceptive(text: str) -> tuple[str, list[SyntaxProblem]]:
    """Return the text without deceptive characters, and one problem for each kind of them."""
    if _DECEPTIVE.search(text) is None:
        return text, []
    kinds = dict.fromkeys(_kind(found[0]) for found in _DECEPTIVE.finditer(text))
    plain = _DECEPTIVE.sub(lambda found: " " if _kind(found[0]) == "unusual blanks" else "", text)
    return plain, [
        SyntaxProblem(translatable("it holds {kind}", kind=kind), plain[:80], "hidden-characters") for kind in kinds
    ]


def _kind(char: str) -> str:
    if char in "\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" or "\u2000" <= char <= "\u200a":
        return "unusual blanks"
    if char < "\u00a0":
        return "control characters"
    return "half characters" if "\ud800" <= char <= "\udfff" else "characters that are not shown"
