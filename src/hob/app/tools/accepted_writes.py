"""Acceptance of identity files written by a tool: approving the shown change also accepts the file."""

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

from hob.core.errors import StoreError, ToolFailed, ToolRefused
from hob.core.ids import digest
from hob.core.ports.tools import CallContext
from hob.core.steps import command_hash
from hob.core.tools import ToolCall, ToolResult, ToolSpec
from hob.core.trust.labels import SenderClass
from hob.guard.approvals.question import Question
from hob.guard.audit.entries import of_action
from hob.store.store import Store
from hob.tools.filesystem.files import FileTools
from hob.workspace.acceptance import AcceptedFiles
from hob.workspace.bootstrap import NAMES

log = logging.getLogger(__name__)

_LEAVE = "approval."


class AcceptedWrites:
    """Implements `Toolset` over the file tools: a write that the owner approved needs no second acceptance.

    The approval counts only if the shown change is the one made, and the file then holds what was planned.
    """

    def __init__(self, files: FileTools, workspace: Path, accepted: AcceptedFiles, store: Store) -> None:
        self._files = files
        self._workspace = workspace
        self._accepted = accepted
        self._store = store

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._files.toolset.specs()

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        agreed = await self._agreed(call, context)
        result = await self._files.toolset.call(call, context)
        if agreed and not result.is_error:
            await self._accept(agreed, context)
        return result

    async def _agreed(self, call: ToolCall, context: CallContext) -> Mapping[str, str]:
        """Return the identity files that the call writes with approval, with their new hashes as shown to the owner."""
        try:
            plan = await self._files.plan_of(call)
            if plan is None:
                return {}
            written = {each.path: each.new_hash for each in plan.changes if each.after is not None}
            found = await asyncio.to_thread(self._identity)
            agreed = {name: written[path] for path, name in found.items() if path in written}
            if not agreed or not plan.shows_all:
                return {}
            shown = await self._shown_change(call, context)
        except (ToolFailed, ToolRefused, OSError, StoreError):  # the call itself reports what is wrong with it
            return {}
        return agreed if shown and shown == plan.diff() else {}

    async def _shown_change(self, call: ToolCall, context: CallContext) -> str:
        """Return the diff that the owner approved for this call, or an empty string if no approval was asked for."""
        decided = await self._store.decisions.find(context.turn.id, command_hash(call))
        rule = decided[-1].rule if decided else ""
        if not rule.startswith(_LEAVE):
            return ""
        asked = await self._store.approvals.find(rule.removeprefix(_LEAVE))
        return "" if asked is None or asked.question is None else Question.load(asked.question).diff

    def _identity(self) -> Mapping[str, str]:
        """Return the names of identity files by real path."""
        return {str((self._workspace / name).resolve()): name for name in NAMES}

    async def _accept(self, agreed: Mapping[str, str], context: CallContext) -> None:
        try:
            there = await asyncio.to_thread(self._take, agreed)
            if there:
                target = ", ".join(f"{name} {hash_}" for name, hash_ in there.items())
                entry = of_action("accept", "done", SenderClass.OWNER, turn=context.turn.id, target=target)
                await self._store.audit.add(entry)
        except (OSError, StoreError) as error:  # the file is written; the owner can still accept it with the command
            log.warning("what was written to %s is not accepted: %s", ", ".join(agreed), error)

    def _take(self, agreed: Mapping[str, str]) -> Mapping[str, str]:
        same = {name: hash_ for name, hash_ in agreed.items() if digest((self._workspace / name).read_bytes()) == hash_}
        if same:
            self._accepted.accept(same)
        return same
