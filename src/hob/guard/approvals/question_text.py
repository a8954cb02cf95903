"""What the owner is shown of a call before answering: exactly what would be done, and nothing that only looks so.

Every line that comes from the call stands behind a bar, so that no text in it can pass for a line of Hob's. Characters
that do not print, turn the direction of writing or look like nothing are written out, and so are long runs of blanks.
What is too long is cut with the number of characters that are missing, never silently, and no chat takes a yes to it.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hob.core.ids import ApprovalId
from hob.core.language import say
from hob.guard.policy.addresses import ascii_form

_BAR = "│ "
_PLAIN = frozenset("\n\t")
_DIFF = "which would change:"
_DIFFS = frozenset({_DIFF, say("de", _DIFF)})
_RUNS = "It would run:"
_RUN_LINES = frozenset({_RUNS, say("de", _RUNS)})
TOO_LONG = "It is too long to be approved in a chat; `hob approvals show {id}`, then `hob approvals allow {id}`."
_SIGNS = {" ": "␣", "\t": "⇥"}
_BLANKS = re.compile(r"\t{9,}|[ \t]{81,}")
_SUBJECTS = ("command", "path", "patch", "to", "url", "key", "name", "text")
_WHOLE = re.compile(rf"{_BAR}(.*\S.*)")
_IN_PATCH = re.compile(rf"{_BAR}(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ )(.+)")


def show(
    tool: str,
    arguments: Mapping[str, Any] | str,
    *,
    reason: str,
    requester: str = "",
    directory: str = "",
    commands: Sequence[str] = (),
    diff: str = "",
    unheld: Sequence[str] = (),
    language: str = "en",
) -> str:
    """The whole question: why it is asked, for whom, the exact arguments, and what they come to.

    `commands` are the parsed commands of a shell text, `diff` what a write would change; both are shown beside the
    arguments, never instead of them. A single command that is an argument as it stands is not shown twice. Arguments
    that are no object are shown as they are.
    """
    lines = [say(language, "{tool} needs your approval: {reason}.", tool=visible(tool), reason=visible(reason))]
    if requester:
        lines.append(say(language, "For {who}.", who=visible(requester)))
    if directory:
        lines.append(say(language, "In {directory}.", directory=visible(directory)))
    for folder in unheld:
        told = (
            "Its programs may find other files in {directory} than now: there are too many to be held until you answer."
        )
        lines.append(say(language, told, directory=visible(folder)))
    if commands and not _is_argument(commands, arguments):  # before a text that may be as long as it likes
        lines += [say(language, _RUNS), *(_BAR + _spaced(visible(command)) for command in commands)]
    if isinstance(arguments, str):
        lines += [say(language, "arguments:"), *_barred(arguments)]
    else:
        for name, value in arguments.items():
            lines += _argument(name, value, language)
    if diff:
        lines += [say(language, _DIFF), *_barred(diff.removesuffix("\n"))]
    return "\n".join(lines)


def _is_argument(commands: Sequence[str], arguments: Mapping[str, Any] | str) -> bool:
    values = () if isinstance(arguments, str) else arguments.values()
    return len(commands) == 1 and any(value == commands[0] for value in values)


def subject_of(shown: str) -> str:
    """What a question as `show` gives it is about, in one line: the command, the path, the recipient."""
    arguments: dict[str, str] = {}
    name = ""
    for line in shown.split("\n")[1:]:
        if line in _DIFFS:
            break
        if line in _RUN_LINES:
            name = ""
        elif not line.startswith(_BAR):
            name = line.partition(" (")[0].removesuffix(":")
        elif name and (found := _IN_PATCH.match(line) if name == "patch" else _WHOLE.match(line)):
            arguments.setdefault(name, found[1])
    return next((arguments[name] for name in _SUBJECTS if name in arguments), next(iter(arguments.values()), ""))


def shows_change(shown: str, diff: str) -> bool:
    """Whether a question as `show` gives it shows exactly this change."""
    return bool(diff) and shown.endswith("\n".join(("", *_barred(diff.removesuffix("\n")))))


def is_outdated(shown: str, diff: str) -> bool:
    """Whether what a call would change now is not what a question as `show` gives it shows, be it nothing."""
    return not shows_change(shown, diff) if diff else not _DIFFS.isdisjoint(shown.split("\n"))


def brief(shown: str, id: ApprovalId, limit: int, language: str = "en") -> str:
    """The question in at most about this many characters, with how to answer, and with what was left out."""
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
    return f"{shown[:head]}\n{cut}\n{_BAR}{shown[-tail:]}\n{how}"


def visible(text: str) -> str:
    """The text in one line, with everything that would not be seen written out."""
    return "".join(char if char not in _PLAIN and _seen(char) else _written(char) for char in text)


def _argument(name: str, value: Any, language: str) -> Iterable[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    shown = visible(name)
    if "\n" not in text and len(text) <= 100:
        bare = text.strip()
        other = visible(ascii_form(bare)) if "." in bare and " " not in bare else ""
        yield f"{shown}:"
        told = f"   ({say(language, 'that is {name}', name=other)})" if other else ""
        yield f"{_BAR}{_spaced(visible(text))}{told}"
        return
    yield say(language, "{name} ({count} characters):", name=shown, count=str(len(text)))
    yield from _barred(text)


def _barred(text: str) -> Iterable[str]:
    # only "\n" divides lines: what else terminals and chats take for a line's end is written out
    for line in text.split("\n"):
        yield _BAR + _spaced("".join(char if _seen(char) or char == "\t" else _written(char) for char in line))


def _spaced(line: str) -> str:
    """The line without blanks that would push the rest of it out of sight."""
    return _BLANKS.sub(lambda run: f"⟨{len(run[0])} {''.join(_SIGNS[each] for each in sorted(set(run[0])))}⟩", line)


def _seen(char: str) -> bool:
    if char.isascii():
        return char.isprintable()
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"):
        return False
    # marks that stand on nothing, fillers that are letters by name only, and selectors
    return char not in "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0" and not "\ufe00" <= char <= "\ufe0f"


def _written(char: str) -> str:
    names = {"\n": "⏎", "\t": "⇥", "\r": "␍"}
    return names.get(char, f"⟨U+{ord(char):04X}⟩")
