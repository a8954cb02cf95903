"""Replacing a passage of a text, which need not match literally but must match exactly one place.

The passage is searched literally; then with typographic quotes, dashes and spaces treated as plain ones; then by whole
lines ignoring trailing spaces; then by whole lines with a constant difference in indentation. The first method that
finds anything decides, and several matches are an error. Where the passage differs from the file, only the model's own
changes are applied: the file keeps its own quotes, spaces and indentation everywhere else.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import partial
from os.path import commonprefix

from hob.core.errors import ToolFailed
from hob.core.values import dataclass
from hob.tools.documents.text import lines_of

_FOLD = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2007\u2009\u202f\u3000", " "),
    }
)
_SHOWN = 1_200  # characters of the file shown if nothing matches
_SEARCHED = 20_000  # lines searched for the most similar passage
_COMPARED = 4_000_000  # pairs of characters compared to find the changes within a passage


@dataclass(frozen=True, slots=True)
class EditResult:
    """The new text, the replaced lines, and how the passage differed from the file."""

    text: str
    lines: tuple[int, ...]
    tolerance: str = ""


@dataclass(frozen=True, slots=True)
class _Find:
    start: int
    end: int
    new: str


def replace_passage(text: str, old: str, new: str, *, everywhere: bool = False) -> EditResult:
    """Replace `old` by `new` in a text with plain line ends. Raises ToolFailed unless exactly one place matches.

    With `everywhere`, all places are replaced that match literally or except for quotes, dashes and spaces.
    """
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if not old:
        raise ToolFailed("old_text is empty; to make a file or to replace all of one, use write.")
    if old == new:
        raise ToolFailed("old_text and new_text are the same: there is nothing to change.")
    tolerance, finds = "", list[_Find]()
    for tolerance, find in _WAYS.items():  # noqa: B007  # the one that found something is told
        if finds := find(text, old, new):
            break
    else:
        raise ToolFailed(f"old_text is not in the file.{_nearest(text, old)}")
    if everywhere and tolerance in _EVERYWHERE:
        finds = _without_overlaps(finds)
    lines = tuple(text.count("\n", 0, each.start) + 1 for each in finds)
    if len(finds) > 1 and not (everywhere and tolerance in _EVERYWHERE):
        places = ", ".join(str(line) for line in lines[:20])
        or_all = ", or use replace_all." if tolerance in _EVERYWHERE else "."
        raise ToolFailed(
            f"old_text fits {len(finds)} places (lines {places}); add lines around it until it fits one{or_all}"
        )
    parts, at = [], 0
    for each in finds:
        parts += [text[at : each.start], each.new]
        at = each.end
    made = "".join([*parts, text[at:]])
    if made == text:
        raise ToolFailed("the file has new_text there already: there is nothing to change.")
    return EditResult(made, lines, tolerance)


def fit_lines(theirs: Sequence[str], old: Sequence[str]) -> str | None:
    """Return the indentation that the old lines lack or (with a leading `-`) have in excess; None if the lines differ.

    Trailing spaces are ignored.
    """
    shift: str | None = None
    for mine, file in zip(old, theirs, strict=True):
        if mine.strip() != file.strip():
            return None
        if not mine.strip():
            continue
        mine_in, file_in = _indent(mine), _indent(file)
        if file_in.endswith(mine_in):
            found = file_in[: len(file_in) - len(mine_in)]
        elif mine_in.endswith(file_in):
            found = "-" + mine_in[: len(mine_in) - len(file_in)]
        else:
            return None
        if shift is not None and found != shift:
            return None
        shift = found
    return shift or ""


def reindent(line: str, shift: str) -> str:
    """Return the line with the indentation that `fit_lines` found."""
    if not shift or not line.strip():
        return line
    return line.removeprefix(shift[1:]) if shift.startswith("-") else shift + line


def merge_lines(theirs: Sequence[str], old: Sequence[str], new: Sequence[str], shift: str) -> list[str]:
    """Return the file's own lines with the changes from the old lines to the new ones."""
    lines: list[str] = []
    for kind, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += theirs[i1:i2]
        else:
            lines += [reindent(line, shift) for line in new[j1:j2]]
    return lines


def _exact(text: str, old: str, new: str) -> list[_Find]:
    return [_Find(at, at + len(old), new) for at in _places(text, old)]


def _folded(text: str, old: str, new: str) -> list[_Find]:
    # one character replaces one, so positions stay the same
    at_places = _places(text.translate(_FOLD), old.translate(_FOLD))
    changes = _changes(old, new) if at_places else []
    finds = []
    for at in at_places:
        parts = [text[at + i1 : at + i2] if given is None else given for i1, i2, given in changes]
        finds.append(_Find(at, at + len(old), "".join(parts)))
    return finds


def _changes(old: str, new: str) -> list[tuple[int, int, str | None]]:
    """Split the old text into pieces, each with its start, end and replacement (None if unchanged)."""
    head = len(commonprefix((old, new)))  # noqa: RUF071  # characters are meant
    tail = len(commonprefix((old[head:][::-1], new[head:][::-1])))  # noqa: RUF071
    middle, given = old[head : len(old) - tail], new[head : len(new) - tail]
    kept: tuple[int, int, str | None] = (len(old) - tail, len(old), None)
    if len(middle) * len(given) > _COMPARED:
        return [(0, head, None), (head, len(old) - tail, given), kept]
    codes = SequenceMatcher(None, middle, given, autojunk=False).get_opcodes()
    between = [(head + i1, head + i2, None if kind == "equal" else given[j1:j2]) for kind, i1, i2, j1, j2 in codes]
    return [(0, head, None), *between, kept]


def _without_overlaps(finds: Sequence[_Find]) -> list[_Find]:
    """Return the matches that do not overlap, from the first on."""
    apart: list[_Find] = []
    for find in finds:
        if not apart or find.start >= apart[-1].end:
            apart.append(find)
    return apart


def _places(text: str, old: str) -> list[int]:
    """Return where the passage begins, including overlapping matches, so that no match is chosen by chance."""
    found: list[int] = []
    at = text.find(old)
    while at >= 0 and len(found) < 10_000:
        found.append(at)
        at = text.find(old, at + 1)
    return found


def _by_lines(text: str, old: str, new: str, *, indented: bool) -> list[_Find]:
    wanted, given = old.removesuffix("\n").split("\n"), new.removesuffix("\n").split("\n")
    if not any(line.strip() for line in wanted):
        return []
    file = text.split("\n")
    if not file[-1]:
        file.pop()
    starts = _line_starts(file)
    first = next(n for n, line in enumerate(wanted) if line.strip())
    sought = wanted[first].strip()
    finds: list[_Find] = []
    for n, line in enumerate(file):
        top, below = n - first, n - first + len(wanted)
        if line.strip() != sought or top < 0 or below > len(file):
            continue
        theirs = file[top:below]
        shift = fit_lines(theirs, wanted)
        if shift is None or (shift and not indented):
            continue
        made = "\n".join(merge_lines(theirs, wanted, given, shift)) + ("\n" if new.endswith("\n") else "")
        end = starts[below] - (0 if old.endswith("\n") else 1)
        if end > len(text):  # the last line has no line end and gets none
            end, made = len(text), made.removesuffix("\n")
        finds.append(_Find(starts[top], end, made))
    return finds


_WAYS: Mapping[str, Callable[[str, str, str], list[_Find]]] = {
    "": _exact,
    "quotes, dashes or spaces": _folded,
    "spaces at the ends of lines": partial(_by_lines, indented=False),
    "indentation": partial(_by_lines, indented=True),
}
_EVERYWHERE = ("", "quotes, dashes or spaces")


def _line_starts(lines: Sequence[str]) -> list[int]:
    starts, at = [0], 0
    for line in lines:
        at += len(line) + 1
        starts.append(at)
    return starts


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _nearest(text: str, old: str) -> str:
    """Describe the most similar passage, which shows the model its mistake."""
    lines = lines_of(text)[:_SEARCHED]
    sought = [line.strip() for line in old.split("\n") if line.strip()]
    if not sought or not lines:
        return ""
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(sought[0][:300])
    best, at = 0.6, -1
    for n, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:300])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (ratio := matcher.ratio()) > best:
            best, at = ratio, n
    if at < 0:
        return " Read the file: nothing in it is like that."
    count = old.count("\n") + 1
    shown = "".join(f"{at + n + 1}\t{line}" for n, line in enumerate(lines[at : at + count]))[:_SHOWN]
    return f" The nearest is at line {at + 1}:\n{shown.rstrip()}"
