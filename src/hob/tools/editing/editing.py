"""The tools that change files: `write`, `edit`, `apply_patch`; and what they would do, told without doing it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from hob.core.errors import ToolFailed
from hob.core.ids import TurnId
from hob.core.labels import HOB_LABEL
from hob.core.ports.tools import CallContext
from hob.core.tools import Effect, Tier, ToolCall
from hob.tools.documents.text import DecodedText, decode, encode
from hob.tools.editing.atomic_write import ExistingFile, load
from hob.tools.editing.diffs import is_whole
from hob.tools.editing.noted_changes import NotedChanges, Planned
from hob.tools.editing.patch_apply import apply
from hob.tools.editing.patch_format import FilePatch, PatchAction, parse
from hob.tools.editing.replacement import edit
from hob.tools.filesystem.paths import Place, Roots
from hob.tools.filesystem.read import SeenFile
from hob.tools.registry.declaration import arguments_of, tool

_WRITES = frozenset({Effect.WRITES})
_LARGEST = 8 << 20  # bytes of a text in which passages are looked for


@dataclass(frozen=True, slots=True)
class EditPlan:
    """What a call would change, and what to tell of it: nothing that was read, so that the answer can be trusted."""

    changes: tuple[Planned, ...]
    told: str

    def diff(self) -> str:
        """The changes, for people to read."""
        return "".join(each.diff() for each in self.changes)

    @property
    def shows_all(self) -> bool:
        """Whether the diff holds everything that would be written."""
        return all(is_whole(each.found.data, each.after) for each in self.changes)


class Editing:
    """Changes files, each call all or nothing, each change noted first."""

    def __init__(self, roots: Roots, noted: NotedChanges, seen: SeenFile) -> None:
        self._roots = roots
        self._noted = noted
        self._seen = seen

    @tool(tier=Tier.WRITE, effects=_WRITES, label=HOB_LABEL)
    async def write(
        self,
        path: str,
        content: str,
        call: ToolCall,
        context: CallContext,
    ) -> str:
        """Write a whole file; folders are made. To change a part, use edit."""
        return await self._carry_out(await asyncio.to_thread(self._written, path, content), call, context)

    @tool(tier=Tier.WRITE, effects=_WRITES, label=HOB_LABEL)
    async def edit(
        self,
        path: str,
        old_text: str,
        new_text: str,
        call: ToolCall,
        context: CallContext,
        replace_all: bool = False,
    ) -> str:
        """Replace old_text, which must fit one place in the file."""
        plan = await asyncio.to_thread(self._edited, path, old_text, new_text, replace_all)
        return await self._carry_out(plan, call, context)

    @tool(tier=Tier.WRITE, effects=_WRITES, label=HOB_LABEL)
    async def apply_patch(
        self,
        patch: Annotated[str, "Unified diff or *** Begin Patch"],
        call: ToolCall,
        context: CallContext,
    ) -> str:
        """Change, create, delete, rename files: all or nothing."""
        return await self._carry_out(await asyncio.to_thread(self._patched, patch), call, context)

    async def plan(self, call: ToolCall) -> EditPlan | None:
        """What this call would do; None if it is no call of these tools. Raises ToolFailed, ToolRefused as it would."""
        match call.name:
            case "write":
                return await asyncio.to_thread(self._written, **arguments_of(self.write, call))
            case "edit":
                return await asyncio.to_thread(self._edited, **arguments_of(self.edit, call))
            case "apply_patch":
                return await asyncio.to_thread(self._patched, **arguments_of(self.apply_patch, call))
        return None

    def places(self, call: ToolCall) -> tuple[Place, ...]:
        """The places this call would write to. Raises ToolFailed, ToolRefused."""
        match call.name:
            case "write":
                paths = [arguments_of(self.write, call)["path"]]
            case "edit":
                paths = [arguments_of(self.edit, call)["path"]]
            case "apply_patch":
                files = parse(arguments_of(self.apply_patch, call)["patch"])
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
        return plan.told

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
        return EditPlan((Planned(found, data),), f"Written: {'; '.join(remarks)}.")

    def _edited(self, path: str, old_text: str, new_text: str, replace_all: bool = False) -> EditPlan:
        found = load(self._roots, path)
        text = self._text(found)
        done = edit(text.plain, old_text, new_text, everywhere=replace_all)
        data, remark = encode(text.with_newlines(done.text), text)
        places = "line" if len(done.lines) == 1 else f"{len(done.lines)} places, lines"
        told = f"Replaced at {places} {', '.join(map(str, done.lines[:20]))}"
        if done.tolerance:
            told += f"; old_text differed from the file in {done.tolerance}, the file's own were kept"
        return EditPlan((Planned(found, data),), f"{told}{'; ' + remark if remark else ''}.")

    def _patched(self, patch: str) -> EditPlan:
        files = parse(patch)
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
            text, remarks = apply("", file.hunks, file.path)
            state.put(path, encode(text, DecodedText(""))[0], None)
            return remarks
        if data is None:
            raise self._roots.missing(self._roots.find(file.path))
        if file.action is PatchAction.DELETE and not file.hunks:
            state.put(path, None, None)
            return ()
        like = self._decoded(data, file.path)
        text, remarks = apply(like.plain, file.hunks, file.path)
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
    """Files as they would be after the first part of a patch."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots
        self._found: dict[str, ExistingFile] = {}
        self._after: dict[str, tuple[bytes | None, int | None]] = {}

    def look(self, spelled: str) -> tuple[str, bytes | None, int]:
        """The real path, what would stand there now, and the permissions of what stands there."""
        path = self._roots.find(spelled).path
        if path not in self._found:
            self._found[path] = load(self._roots, spelled)
        found = self._found[path]
        return path, self._after.get(path, (found.data, None))[0], found.mode

    def put(self, path: str, data: bytes | None, mode: int | None) -> None:
        self._after[path] = (data, mode)

    def changes(self) -> tuple[Planned, ...]:
        """What differs in the end: first what is written, then what is taken away."""
        planned = [Planned(self._found[path], data, mode) for path, (data, mode) in self._after.items()]
        planned = [each for each in planned if each.after != each.found.data]
        return tuple(sorted(planned, key=lambda each: each.after is None))
