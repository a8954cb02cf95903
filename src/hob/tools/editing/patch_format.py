"""Patch parser for the two forms that models write: unified diffs, and OpenAI's envelope `*** Begin Patch`.

Unified: https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html, with git's lines for new,
deleted and renamed files. The envelope: https://cookbook.openai.com/examples/gpt4-1_prompting_guide
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import StrEnum

from hob.core.errors import ToolFailed
from hob.core.values import dataclass
from hob.guard.policy.places import unquote_git_name

_HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@ ?(.*)")
_NOTHING = "/dev/null"
_BETWEEN = ("diff ", "index ", "rename ", "new file", "deleted file", "similarity ", "old mode", "new mode", "-- ")
"""Prefixes of lines between two files of a diff."""


class PatchAction(StrEnum):
    """What a patch does to a file."""

    CREATE = "create"
    UPDATE = "update"
    DELETE = "delete"


@dataclass(frozen=True, slots=True)
class Hunk:
    """A change: old and new lines, without line ends.

    `line` is the expected line number (0 if not given), `anchors` are lines that precede the change, `at_end` means
    that it is at the end of the file. `unended` are the sides whose last line has no line end.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    line: int = 0
    anchors: tuple[str, ...] = ()
    at_end: bool = False
    unended: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file; with `goal` it is renamed."""

    path: str
    action: PatchAction
    hunks: tuple[Hunk, ...] = ()
    goal: str = ""


@dataclass(slots=True)
class _HunkBuilder:
    """A hunk while it is being read."""

    line: int = 0
    anchors: list[str] = field(default_factory=list)
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    at_end: bool = False
    unended: set[str] = field(default_factory=set)
    last: str = " "

    def take(self, line: str) -> bool:
        """Read a line of the hunk; return False if it is not one."""
        if line.startswith("\\"):  # \ No newline at end of file
            self.unended |= {"-": {"old"}, "+": {"new"}}.get(self.last, {"old", "new"})
            return True
        mark, text = line[:1], line[1:]
        if mark not in ("", " ", "-", "+"):
            return False
        if mark != "+":
            self.old.append(text)
        if mark != "-":
            self.new.append(text)
        self.last = mark
        return True

    def closed(self) -> Hunk:
        return Hunk(
            tuple(self.old), tuple(self.new), self.line, tuple(self.anchors), self.at_end, frozenset(self.unended)
        )


def parse_patch(patch: str) -> tuple[FilePatch, ...]:
    """Parse a patch file by file. Raises ToolFailed with the line that is not understood."""
    lines = patch.replace("\r\n", "\n").strip("\n").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    if lines and lines[0].startswith("```"):
        lines = lines[1 : -1 if lines[-1].startswith("```") else None]
    enveloped = bool(lines) and lines[0].strip() == "*** Begin Patch"
    files = tuple(_envelope(lines) if enveloped else _unified(lines))
    if not files:
        raise ToolFailed(
            "the patch changes nothing: it needs `--- a/file` and `+++ b/file`, or `*** Update File: file`."
        )
    return files


def _envelope(lines: Sequence[str]) -> Iterator[FilePatch]:
    end = next((n for n, line in enumerate(lines) if line.strip() == "*** End Patch"), len(lines))
    n = 1
    while n < end:
        line = lines[n]
        n += 1
        if not line.strip():
            continue
        head, colon, path = line.partition(": ")
        path = path.strip()
        if not colon or not path:
            raise _unknown(n, line)
        body = n
        while n < end and not (lines[n].startswith("*** ") and not lines[n].startswith("*** End of File")):
            n += 1
        match head:
            case "*** Add File":
                yield _added(path, lines[body:n], body)
            case "*** Delete File":
                yield FilePatch(path, PatchAction.DELETE)
            case "*** Update File":
                goal = ""
                if n < end and lines[n].startswith("*** Move to: ") and n == body:
                    goal = lines[n].partition(": ")[2].strip()
                    n += 1
                    body = n
                    while n < end and not (lines[n].startswith("*** ") and not lines[n].startswith("*** End of File")):
                        n += 1
                yield FilePatch(path, PatchAction.UPDATE, tuple(_sections(lines[body:n], body)), goal)
            case _:
                raise _unknown(n, line)


def _added(path: str, lines: Sequence[str], first: int) -> FilePatch:
    while lines and not lines[-1]:
        lines = lines[:-1]
    for n, line in enumerate(lines, start=first + 1):
        if line and not line.startswith("+"):
            raise ToolFailed(f"line {n} of the patch must begin with +, as all lines of a new file: {line[:80]!r}")
    return FilePatch(path, PatchAction.CREATE, (Hunk((), tuple(line[1:] for line in lines)),) if lines else ())


def _sections(lines: Sequence[str], first: int) -> Iterator[Hunk]:
    hunk = _HunkBuilder()
    for n, line in enumerate(lines, start=first + 1):
        if line.startswith("@@"):
            if hunk.old or hunk.new:
                yield hunk.closed()
                hunk = _HunkBuilder()
            if header := _HEADER.fullmatch(line):
                hunk.line = int(header[1])
            elif anchor := line[2:].removeprefix(" ").removesuffix("@@").rstrip():
                hunk.anchors.append(anchor)
        elif line.startswith("*** End of File"):
            hunk.at_end = True
        elif not hunk.take(line):
            raise _unknown(n, line)
    if hunk.old or hunk.new:
        yield hunk.closed()


def _unified(lines: Sequence[str]) -> Iterator[FilePatch]:
    n = 0
    moved: dict[str, str] = {}
    while n < len(lines):
        line = lines[n]
        n += 1
        if line.startswith("rename from "):
            moved = {"from": unquote_git_name(line.removeprefix("rename from "))}
        elif line.startswith("rename to ") and moved:
            moved["to"] = unquote_git_name(line.removeprefix("rename to "))
            below = [each[:4] for each in lines[n : n + 2]]
            if below[:1] != ["--- "] and below != ["inde", "--- "]:  # only the name changes
                yield FilePatch(moved["from"], PatchAction.UPDATE, (), moved["to"])
                moved = {}
        elif line.startswith(("GIT binary patch", "Binary files ")):
            raise ToolFailed("a patch cannot change binary files here.")
        elif line.startswith("--- ") and n < len(lines) and lines[n].startswith("+++ "):
            before, after = _named(line), _named(lines[n])
            hunks, n = _hunks(lines, n + 1)
            yield _file_patch(before, after, hunks, moved)
            moved = {}
        elif line.startswith("@@ "):
            raise ToolFailed(
                f"line {n} of the patch begins a hunk, but no `--- a/file` and `+++ b/file` say of which file."
            )


def _hunks(lines: Sequence[str], n: int) -> tuple[tuple[Hunk, ...], int]:
    hunks: list[Hunk] = []
    while n < len(lines) and lines[n].startswith("@@"):
        header = _HEADER.match(lines[n])
        old, new = (int(header[2] or 1), int(header[3] or 1)) if header else (-1, -1)
        hunk = _HunkBuilder(line=int(header[1]) if header else 0)
        if old == 0:
            hunk.line += 1  # the old side is empty, so the new lines follow the given one
        n += 1
        while n < len(lines) and not _ends_hunk(lines, n):
            if lines[n] == "-- " and (len(hunk.old), len(hunk.new)) == (old, new):
                break  # the signature of a mail follows
            if not hunk.take(lines[n]):
                raise _unknown(n + 1, lines[n])
            n += 1
        while header and hunk.last == "" and len(hunk.old) > old and not (hunk.old[-1] or hunk.new[-1]):
            hunk.old.pop()  # models and mail programs add empty lines after a hunk
            hunk.new.pop()
        hunks.append(hunk.closed())
    if not hunks:
        raise ToolFailed(f"line {n + 1} of the patch: after `+++` comes a hunk that begins with `@@ -1,3 +1,4 @@`.")
    return tuple(hunks), n


def _ends_hunk(lines: Sequence[str], n: int) -> bool:
    """Return whether a line ends the hunk. A removed line `-- x` resembles a file header, but a header is followed by
    `+++`.
    """
    if lines[n].startswith("--- "):
        return [line[:3] for line in lines[n + 1 : n + 3]] == ["+++", "@@ "]
    return lines[n].startswith(("@@", *_BETWEEN[:-1]))


def _file_patch(before: str, after: str, hunks: tuple[Hunk, ...], moved: dict[str, str]) -> FilePatch:
    if before == _NOTHING:
        return FilePatch(_stripped(after), PatchAction.CREATE, hunks)
    if after == _NOTHING:
        return FilePatch(_stripped(before), PatchAction.DELETE, hunks)
    if "to" in moved:
        return FilePatch(moved["from"], PatchAction.UPDATE, hunks, moved["to"])
    before, after = _stripped(before), _stripped(after)
    return FilePatch(before, PatchAction.UPDATE, hunks, "" if after == before else after)


def _named(line: str) -> str:
    return unquote_git_name(line[4:].split("\t")[0].strip())


def _stripped(name: str) -> str:
    return name[2:] if name[:2] in ("a/", "b/") else name


def _unknown(n: int, line: str) -> ToolFailed:
    return ToolFailed(
        f"line {n} of the patch is not understood: {line[:80]!r}. Lines of a hunk begin with a space, - or +."
    )
