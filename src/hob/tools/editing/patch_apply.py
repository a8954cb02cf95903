"""Hunks put into a text. Each must fit one place; the line numbers models give are a hint at most."""

from collections.abc import Sequence

from hob.core.errors import ToolFailed
from hob.tools.editing.patch_format import Hunk
from hob.tools.editing.replacement import fit_lines, merged

_MOST_TRIMMED = 2  # lines of context at either end that need not fit, as with `patch --fuzz=2`
_LEFT = 2  # lines with something in them that must fit all the same


def apply(text: str, hunks: Sequence[Hunk], name: str) -> tuple[str, tuple[str, ...]]:
    """The text (plain line ends) with the hunks put in, in their order, and remarks on those that did not fit exactly.

    Raises ToolFailed where one fits no place, or several.
    """
    lines = text.split("\n")
    ended = not lines[-1]
    if ended:
        lines.pop()
    remarks: list[str] = []
    made: list[str] = []
    at, shift = 0, 0
    for n, hunk in enumerate(hunks, start=1):
        place = _Placed(lines, hunk, at, shift, f"hunk {n} of {name}")
        start, size, new, remark = place.find()
        made += lines[at:start]
        made += new
        if hunk.line:
            shift = start - (hunk.line - 1)
        at = start + size
        if remark:
            remarks.append(f"hunk {n} at line {start + 1}: {remark}")
        if at == len(lines):
            ended = "new" not in hunk.unended if hunk.unended else ended or not lines
    made += lines[at:]
    return "\n".join(made) + ("\n" if ended and made else ""), tuple(remarks)


class _Placed:
    """Where one hunk belongs."""

    def __init__(self, lines: Sequence[str], hunk: Hunk, at: int, shift: int, name: str) -> None:
        self._lines = lines
        self._hunk = hunk
        self._at = self._below_anchors(at, name)
        self._shift = shift
        self._name = name

    def find(self) -> tuple[int, int, list[str], str]:
        """The first line, how many lines are replaced, by which, and what did not fit. Raises ToolFailed."""
        hunk = self._hunk
        if not hunk.old:
            return self._insertion(), 0, list(hunk.new), ""
        for head, tail in _trimmings(hunk):
            old = hunk.old[head : len(hunk.old) - tail]
            new = hunk.new[head : len(hunk.new) - tail]
            for tolerance in ("", "spaces at the ends of lines", "indentation"):
                finds = self._finds(old, tolerance)
                if len(finds) > 1:
                    finds = self._as_numbered(finds, head) if not (head or tail) else []
                    if not finds:
                        break  # several places, and nothing says which
                if finds:
                    start, shift = finds[0]
                    theirs = self._lines[start : start + len(old)]
                    fuzz = f"{head + tail} lines of context did not fit" if head or tail else ""
                    remark = " and ".join(part for part in (tolerance and f"{tolerance} differed", fuzz) if part)
                    return start, len(old), merged(theirs, old, new, shift), remark
            else:
                continue
            break
        raise self._unfitting()

    def _finds(self, old: Sequence[str], tolerance: str) -> list[tuple[int, str]]:
        found = []
        last = len(self._lines) - len(old)
        for start in range(max(self._at, last) if self._hunk.at_end else self._at, last + 1):
            theirs = self._lines[start : start + len(old)]
            if tolerance == "":
                shift = "" if theirs[0] == old[0] and list(theirs) == list(old) else None
            else:
                shift = fit_lines(theirs, old)
            if shift is not None and (tolerance == "indentation" or not shift):
                found.append((start, shift))
        return found

    def _as_numbered(self, finds: list[tuple[int, str]], head: int) -> list[tuple[int, str]]:
        """Of several places the first below the anchor, or the one on the named line, moved as the hunk before was."""
        if self._hunk.anchors:
            return finds[:1]
        if not self._hunk.line:
            return []
        named = {self._hunk.line - 1 + head, self._hunk.line - 1 + head + self._shift}
        there = [find for find in finds if find[0] in named]
        return there if len(there) == 1 else []

    def _insertion(self) -> int:
        """Lines that replace none: at the named line, after the anchor, or at the end."""
        if self._hunk.anchors:
            return self._at
        if self._hunk.line:
            return min(max(self._at, self._hunk.line - 1 + self._shift), len(self._lines))
        if self._lines and not self._hunk.at_end:
            raise ToolFailed(f"{self._name} only adds lines and does not say where: begin with lines that are there.")
        return len(self._lines)

    def _below_anchors(self, at: int, name: str) -> int:
        for anchor in self._hunk.anchors:
            below = range(at, len(self._lines))
            found = [n for n in below if self._lines[n].strip() == anchor.strip()]
            found = found or [n for n in below if self._lines[n].strip().startswith(anchor.strip())]
            if not found:
                raise ToolFailed(f"{name}: there is no line {anchor!r} below line {at}; nothing was changed.")
            at = found[0] + 1
        return at

    def _unfitting(self) -> ToolFailed:
        old = self._hunk.old
        exact = [start + 1 for start, _ in self._finds(old, "")]
        if len(exact) > 1:
            places = ", ".join(str(line) for line in exact[:20])
            return ToolFailed(
                f"{self._name} fits {len(exact)} places (lines {places}); add lines of context until it fits one. "
                "Nothing was changed."
            )
        sought = next((line for line in old if line.strip()), "")
        like = [n + 1 for n, line in enumerate(self._lines) if line.strip() == sought.strip()]
        where = (
            f"its first line {sought.strip()[:80]!r} stands at {', '.join(map(str, like[:8]))}"
            if like
            else (f"no line is {sought.strip()[:80]!r}")
        )
        return ToolFailed(f"{self._name} does not fit: {where}. Read the file again; nothing was changed.")


def _trimmings(hunk: Hunk) -> list[tuple[int, int]]:
    """How many lines of context to leave out at the beginning and the end, fewest first."""
    head = _context(hunk.old, hunk.new)
    tail = _context(hunk.old[head:][::-1], hunk.new[head:][::-1])
    pairs = [(h, t) for h in range(min(head, _MOST_TRIMMED) + 1) for t in range(min(tail, _MOST_TRIMMED) + 1)]
    pairs.sort(key=lambda pair: (sum(pair), max(pair)))
    return [
        (h, t)
        for h, t in pairs
        if (h, t) == (0, 0) or sum(bool(line.strip()) for line in hunk.old[h : len(hunk.old) - t]) >= _LEFT
    ]


def _context(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        count += 1
    return count
