"""The tools that change files (`write`, `replace_passage`, `apply_patch`), and previews of their effects."""

import asyncio
from collections.abc import Sequence

from hob.core.errors import ToolFailed
from hob.core.ids import TurnId
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall
from hob.core.trust.labels import HOB_LABEL
from hob.core.values import dataclass
from hob.tools.documents.text import DecodedText, decode, encode
from hob.tools.editing.atomic_write import ExistingFile, load
from hob.tools.editing.diffs import is_complete
from hob.tools.editing.noted_changes import NotedChanges, PlannedChange
from hob.tools.editing.patch_format import FilePatch, Hunk, PatchAction, parse_patch
from hob.tools.editing.replacement import fit_lines, merge_lines, replace_passage
from hob.tools.editing.specs import APPLY_PATCH, EDIT, WRITE
from hob.tools.filesystem.paths import Place, Roots
from hob.tools.filesystem.read import SeenHashes
from hob.tools.registry.declaration import arguments_of, implements

# Application of hunks. Each must match exactly one place; line numbers from models are only a hint.

_MAX_TRIMMED = 2  # lines of context at either end that need not match, as with `patch --fuzz=2`
_LEFT = 2  # nonblank lines that must still match


def apply_hunks(text: str, hunks: Sequence[Hunk], name: str) -> tuple[str, tuple[str, ...]]:
    """Apply the hunks in order to a text with plain line ends; return it with remarks on inexact matches.

    Raises ToolFailed if a hunk matches no place or several.
    """
    lines = text.split("\n")
    ended = not lines[-1]
    if ended:
        lines.pop()
    remarks: list[str] = []
    made: list[str] = []
    at, shift = 0, 0
    for n, hunk in enumerate(hunks, start=1):
        place = _HunkPlacement(lines, hunk, at, shift, f"hunk {n} of {name}")
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


class _HunkPlacement:
    """Finds the place of one hunk."""

    def __init__(self, lines: Sequence[str], hunk: Hunk, at: int, shift: int, name: str) -> None:
        self._lines = lines
        self._hunk = hunk
        self._at = self._below_anchors(at, name)
        self._shift = shift
        self._name = name

    def find(self) -> tuple[int, int, list[str], str]:
        """Return the first line, the number of lines replaced, the new lines, and what did not match. Raises
        ToolFailed.
        """
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
                        break  # several places, and nothing to tell them apart
                if finds:
                    start, shift = finds[0]
                    theirs = self._lines[start : start + len(old)]
                    fuzz = f"{head + tail} lines of context did not fit" if head or tail else ""
                    remark = " and ".join(part for part in (tolerance and f"{tolerance} differed", fuzz) if part)
                    return start, len(old), merge_lines(theirs, old, new, shift), remark
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
        """Choose among several places: the first below the anchor, or the one at the given line, shifted like the last
        hunk.
        """
        if self._hunk.anchors:
            return finds[:1]
        if not self._hunk.line:
            return []
        named = {self._hunk.line - 1 + head, self._hunk.line - 1 + head + self._shift}
        there = [find for find in finds if find[0] in named]
        return there if len(there) == 1 else []

    def _insertion(self) -> int:
        """Return where lines are inserted that replace none: at the given line, after the anchor, or at the end."""
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
    """Return numbers of context lines to ignore at the beginning and the end, fewest first."""
    head = _context(hunk.old, hunk.new)
    tail = _context(hunk.old[head:][::-1], hunk.new[head:][::-1])
    pairs = [(h, t) for h in range(min(head, _MAX_TRIMMED) + 1) for t in range(min(tail, _MAX_TRIMMED) + 1)]
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


_LARGEST = 8 << 20  # maximum bytes of a text that can be edited


@dataclass(frozen=True, slots=True)
class EditPlan:
    """The changes that a call would make, and a summary without any file content, so that it can be trusted."""

    changes: tuple[PlannedChange, ...]
    summary: str

    def diff(self) -> str:
        """Return the changes for people."""
        return "".join(each.diff() for each in self.changes)

    @property
    def shows_all(self) -> bool:
        """Whether the diff contains everything that would be written."""
        return all(is_complete(each.found.data, each.after) for each in self.changes)


class EditTools:
    """The editing tools. Each call is all or nothing, and each change is recorded before it is made."""

    def __init__(self, roots: Roots, noted: NotedChanges, seen: SeenHashes) -> None:
        self._roots = roots
        self._noted = noted
        self._seen = seen

    @implements(WRITE, HOB_LABEL)
    async def write(
        self,
        path: str,
        content: str,
        call: ToolCall,
        context: CallContext,
    ) -> str:
        return await self._carry_out(await asyncio.to_thread(self._written, path, content), call, context)

    @implements(EDIT, HOB_LABEL)
    async def edit(
        self,
        path: str,
        old_text: str,
        new_text: str,
        call: ToolCall,
        context: CallContext,
        replace_all: bool = False,
    ) -> str:
        plan = await asyncio.to_thread(self._edited, path, old_text, new_text, replace_all)
        return await self._carry_out(plan, call, context)

    @implements(APPLY_PATCH, HOB_LABEL)
    async def apply_patch(
        self,
        patch: str,
        call: ToolCall,
        context: CallContext,
    ) -> str:
        return await self._carry_out(await asyncio.to_thread(self._patched, patch), call, context)

    async def plan(self, call: ToolCall) -> EditPlan | None:
        """Return what this call would do; None if it is not a call of these tools. Raises as the call would."""
        match call.name:
            case "write":
                return await asyncio.to_thread(self._written, **arguments_of(self.write, call))
            case "edit":
                return await asyncio.to_thread(self._edited, **arguments_of(self.edit, call))
            case "apply_patch":
                return await asyncio.to_thread(self._patched, **arguments_of(self.apply_patch, call))
        return None

    def places(self, call: ToolCall) -> tuple[Place, ...]:
        """Return the places this call would write to. Raises ToolFailed, ToolRefused."""
        match call.name:
            case "write":
                paths = [arguments_of(self.write, call)["path"]]
            case "edit":
                paths = [arguments_of(self.edit, call)["path"]]
            case "apply_patch":
                files = parse_patch(arguments_of(self.apply_patch, call)["patch"])
                paths = [path for file in files for path in (file.path, file.goal) if path]
            case _:
                paths = []
        return tuple(self._roots.find(path) for path in paths)

    async def _carry_out(self, plan: EditPlan, call: ToolCall, context: CallContext) -> str:
        turn = context.turn.id
        for each in plan.changes:
            self._check_seen(turn, each.found)
        await self._noted.make(plan.changes, turn, call.id)
        for each in plan.changes:
            self._seen.note(turn, each.path, each.new_hash)
        return plan.summary

    def _check_seen(self, turn: TurnId, found: ExistingFile) -> None:
        seen = self._seen.find(turn, found.place.path)
        if seen is not None and seen != found.hash:
            raise ToolFailed(f"{found.place.spelled} was changed since you read it; read it again.")

    def _written(self, path: str, content: str) -> EditPlan:
        found = load(self._roots, path)
        like = (decode(found.data) if found.data else None) or DecodedText("")
        text, remarks = content, []
        if like.text and "\r\n" not in content:
            text = content.replace("\n", like.newline)
        if like.text.endswith(("\n", "\r")) and text and not text.endswith(("\n", "\r")):
            text += like.newline
            remarks.append("with a line end at its end, as it had before")
        data, remark = encode(text, like)
        if data == found.data:
            return EditPlan((), "It has this content already; nothing was changed.")
        lines = content.count("\n") + (not content.endswith("\n") and bool(content))
        what = "a new file" if found.data is None else "in place of the old content"
        remarks = [
            f"{lines:,} line{'' if lines == 1 else 's'}, {len(data):,} bytes, {what}",
            *remarks,
            *([remark] if remark else []),
        ]
        return EditPlan((PlannedChange(found, data),), f"Written: {'; '.join(remarks)}.")

    def _edited(self, path: str, old_text: str, new_text: str, replace_all: bool = False) -> EditPlan:
        found = load(self._roots, path)
        text = self._text(found)
        done = replace_passage(text.plain, old_text, new_text, everywhere=replace_all)
        data, remark = encode(text.with_newlines(done.text), text)
        places = "line" if len(done.lines) == 1 else f"{len(done.lines)} places, lines"
        told = f"Replaced at {places} {', '.join(map(str, done.lines[:20]))}"
        if done.tolerance:
            told += f"; old_text differed from the file in {done.tolerance}, the file's own were kept"
        return EditPlan((PlannedChange(found, data),), f"{told}{'; ' + remark if remark else ''}.")

    def _patched(self, patch: str) -> EditPlan:
        files = parse_patch(patch)
        state = _State(self._roots)
        remarks: list[str] = []
        for n, file in enumerate(files, start=1):
            remarks += [f"file {n}, {remark}" for remark in self._patch_file(state, file)]
        changes = state.changes()
        if not changes:
            return EditPlan((), "Everything is so already; nothing was changed.")
        counts = {action: sum(file.action is action for file in files) for action in PatchAction}
        told = ", ".join(f"{count} {action}d" for action, count in counts.items() if count)
        return EditPlan(changes, f"Files: {told}." + "".join(f" Note: {remark}." for remark in remarks))

    def _patch_file(self, state: "_State", file: FilePatch) -> Sequence[str]:
        path, data, mode = state.look(file.path)
        if file.action is PatchAction.CREATE:
            if data is not None:
                raise ToolFailed(f"{file.path} is there already; nothing was changed.")
            text, remarks = apply_hunks("", file.hunks, file.path)
            state.put(path, encode(text, DecodedText(""))[0], None)
            return remarks
        if data is None:
            raise self._roots.missing(self._roots.find(file.path))
        if file.action is PatchAction.DELETE and not file.hunks:
            state.put(path, None, None)
            return ()
        like = self._decoded(data, file.path)
        text, remarks = apply_hunks(like.plain, file.hunks, file.path)
        new, remark = encode(like.with_newlines(text), like)
        if file.action is PatchAction.DELETE:
            if text:
                raise ToolFailed(f"{file.path} has other lines than the patch deletes; nothing was changed.")
            state.put(path, None, None)
            return remarks
        if file.goal:
            goal, there, _ = state.look(file.goal)
            if there is not None:
                raise ToolFailed(f"{file.goal} is there already; nothing was changed.")
            state.put(goal, new, mode)
            state.put(path, None, None)
        else:
            state.put(path, new, None)
        return (*remarks, remark) if remark else remarks

    def _text(self, found: ExistingFile) -> DecodedText:
        if found.data is None:
            raise self._roots.missing(found.place)
        return self._decoded(found.data, found.place.spelled)

    def _decoded(self, data: bytes, name: str) -> DecodedText:
        if len(data) > _LARGEST:
            raise ToolFailed(f"{name} has {len(data):,} bytes: too large to be edited here.")
        text = decode(data)
        if text is None:
            raise ToolFailed(f"{name} is no text file.")
        return text


class _State:
    """The state of files after the first part of a patch."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._found: dict[str, ExistingFile] = {}
        self._after: dict[str, tuple[bytes | None, int | None]] = {}

    def look(self, spelled: str) -> tuple[str, bytes | None, int]:
        """Return the real path, its content so far, and the permissions of the existing file."""
        path = self._roots.find(spelled).path
        if path not in self._found:
            self._found[path] = load(self._roots, spelled)
        found = self._found[path]
        return path, self._after.get(path, (found.data, None))[0], found.mode

    def put(self, path: str, data: bytes | None, mode: int | None) -> None:
        self._after[path] = (data, mode)

    def changes(self) -> tuple[PlannedChange, ...]:
        """Return the resulting changes, writes before removals."""
        planned = [PlannedChange(self._found[path], data, mode) for path, (data, mode) in self._after.items()]
        planned = [each for each in planned if each.after != each.found.data]
        return tuple(sorted(planned, key=lambda each: each.after is None))
