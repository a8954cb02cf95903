"""Undo of a turn's file changes: finding the turn, undoing, and recording the outcome."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace

from hob.core.clock import Clock
from hob.core.content.chunks import short_title
from hob.core.errors import HobError, InvalidRequest, NotFound, ToolFailed, ToolRefused
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, TurnId, new_event_id, new_span_id
from hob.core.states import TurnState
from hob.core.translation.language import translatable
from hob.core.trust.labels import SenderClass
from hob.core.undo import UndoOutcome, UndoRecord, undo_turn_id
from hob.gateway.answer_types import UndoneAnswer
from hob.guard.audit.entries import of_action
from hob.store.store import Store
from hob.store.turns.turns import TurnRow
from hob.tools.undo.turn_undo import TurnUndo

_MAX_NAMED = 50  # files named on the timeline
_PREFIX = undo_turn_id(TurnId(""))

log = logging.getLogger(__name__)


class TurnUndoService:
    """Undoes the changes of one turn at a time. `finish` completes undos that a crash interrupted."""

    def __init__(self, undo: TurnUndo, store: Store, clock: Clock) -> None:
        self._undo = undo
        self._done = store.undo_log
        self._store = store
        self._clock = clock
        self._lock = asyncio.Lock()

    async def paths(self, turn: TurnId) -> Sequence[str]:
        """Return the files that this turn changed; empty if that is no longer known."""
        try:
            return await self._undo.paths(turn)
        except (NotFound, ToolFailed):
            return ()

    async def newest(self, session: SessionKey) -> TurnId | None:
        """Return the session's newest turn that changed files and is not undone."""
        await self._undo.recover()
        return await self._done.newest(session)

    async def find(self, name: str, session: SessionKey) -> TurnId:
        """Find a turn by its id, a message's id, `undo:` before either, or the newest of all.

        Raises NotFound, and InvalidRequest while the turn runs.
        """
        if not name:
            newest = await self.newest(session)
            if newest is None:
                raise NotFound(translatable("no turn of this conversation has changed files that can be restored"))
            return newest
        base = name
        while base.startswith(_PREFIX):
            base = base.removeprefix(_PREFIX)
        row = await self._row(base)
        turn = TurnId(name[: len(name) - len(base)] + row.id)
        if turn == row.id and row.state in (TurnState.READY, TurnState.RUNNING):
            raise InvalidRequest(translatable("{name} is still at work; stop it first", name=name))
        await self._undo.recover()
        if not await self._done.changed(turn):
            raise NotFound(
                translatable(
                    "{name} has changed no files, or it is so long ago that they are not kept any more", name=name
                )
            )
        return turn

    async def preview(self, turn: TurnId) -> UndoneAnswer:
        """Return what `undo` would do, and the diffs. Raises NotFound, InvalidRequest."""
        try:
            shown = await self._undo.preview(turn)
        except (ToolFailed, ToolRefused) as error:
            raise InvalidRequest(str(error)) from error
        return {**await self._told(turn, shown.outcome), "diff": shown.diff}

    async def undo(self, turn: TurnId, by: str) -> UndoneAnswer:
        """Restore the files from before the turn. Repeating a request returns the first outcome.

        Raises NotFound, InvalidRequest, StoreErrors.
        """
        async with self._lock:
            note = await self._done.find(by)
            if note is None:
                try:
                    planned = (await self._undo.preview(turn)).outcome.restored
                except (ToolFailed, ToolRefused) as error:
                    raise InvalidRequest(str(error)) from error
                note = UndoRecord(turn, by, planned)
                await self._done.begin(note)
            return await self._told(note.turn, note.outcome or await self._perform(note))

    async def previous_request(self, by: str) -> TurnId | None:
        """Return the turn that this request undid, or began to undo."""
        note = await self._done.find(by)
        return None if note is None else note.turn

    async def finish(self) -> int:
        """Complete the undos that a crash interrupted. Returns how many there were."""
        async with self._lock:
            half_done = await self._done.half_done()
            for note in half_done:
                try:
                    await self._perform(note)
                except (HobError, OSError) as error:
                    log.warning("the undoing of %s could not be finished: %s", note.turn, error)
            return len(half_done)

    async def _perform(self, note: UndoRecord) -> UndoOutcome:
        try:
            done = await self._undo.restore(note.turn)
        except (ToolFailed, ToolRefused) as error:
            raise InvalidRequest(str(error)) from error
        earlier = tuple(path for path in done.unchanged if path in note.planned)  # restored before a crash
        unchanged = tuple(path for path in done.unchanged if path not in note.planned)
        done = replace(done, restored=(*earlier, *done.restored), unchanged=unchanged)
        event = await self._event(note.turn, done)
        await self._store.timeline.add((event,))
        kept = "kept" if done.kept else "done"
        await self._store.audit.add(of_action(event.name, kept, SenderClass.OWNER, turn=note.turn))
        await self._done.end(note, done)
        return done

    async def _event(self, turn: TurnId, done: UndoOutcome) -> TimelineEvent:
        row = await self._row(turn.rpartition(_PREFIX)[2])
        lines = [f"put back: {path}" for path in done.restored]
        lines += [f"kept: {each.path}: {each.reason}" for each in done.kept]
        more = [f"and {len(lines) - _MAX_NAMED} more"] if len(lines) > _MAX_NAMED else []
        return TimelineEvent(
            new_event_id(),
            row.trace,
            new_span_id(),
            row.span,
            self._clock.now().timestamp(),
            EventKind.SYSTEM,
            "undo" if turn == row.id else "redo",
            "kept" if done.kept else "ok",
            session=row.session,
            turn=row.id,
            text="\n".join([*lines[:_MAX_NAMED], *more]),
        )

    async def _row(self, name: str) -> TurnRow:
        row = await self._store.turns.find(name)
        if row is None:
            raise NotFound(translatable("there is no turn or message {name}; `hob tasks --all` lists them", name=name))
        return row

    async def _told(self, turn: TurnId, done: UndoOutcome) -> UndoneAnswer:
        return {
            "turn": turn,
            "words": short_title(await self._store.turns.opening(TurnId(turn.rpartition(_PREFIX)[2]))),
            "restored": list(done.restored),
            "unchanged": list(done.unchanged),
            "kept": [{"path": each.path, "reason": each.reason} for each in done.kept],
            "running": [each.process or each.command[:80] for each in self._undo.running(turn)],
            "back": undo_turn_id(turn),
        }
