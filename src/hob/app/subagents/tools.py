"""The tools of sub-agents and sessions."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from hob.app.models.catalog import ModelNames
from hob.app.subagents.runs import SubagentRuns, events_of, find_run, message_key
from hob.app.subagents.sessions import AGENT, child_key, depth_of
from hob.app.subagents.specs import (
    AGENTS_LIST,
    SESSION_STATUS,
    SESSIONS_HISTORY,
    SESSIONS_LIST,
    SESSIONS_SEARCH,
    SESSIONS_SEND,
    SESSIONS_YIELD,
    SPAWN_TOOL,
    SUBAGENTS,
)
from hob.core.content.chunks import short_title
from hob.core.errors import InvalidCall, NotFound, ResultPending
from hob.core.ids import ONE_TURN_PREFIX, InboundId, SessionKey, digest, new_trace_id
from hob.core.memory import is_private
from hob.core.messages import INTERNAL_CHANNEL, Address, Quoted
from hob.core.models import Thinking, TranscriptEntry
from hob.core.money import dollars
from hob.core.ports.tools import CallContext
from hob.core.tools import ToolCall
from hob.core.trust.labels import HOB_LABEL, Label, Origin, Trust
from hob.core.trust.self_messages import make_self_message
from hob.core.turns import Session, SessionChange, Turn
from hob.store.subagents import SEND, SPAWN, SubagentRow
from hob.store.titles import title_of
from hob.tools.registry.declaration import Tools, implements

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_FORK_CHARACTERS = 400_000  # characters, about 100,000 tokens
_HANDOFF_CHARACTERS = 2_400
_INHERITED = (8, 240, 1_800)
"""Limits of `inherit-readonly`: messages, characters of each, characters in total."""
_ENTRY_CHARACTERS, _HISTORY_CHARACTERS = 4_000, 80_000
_MAX_SEARCHED = 50
_MAX_CHANGED, _CHANGES_SHOWN = 500, 20
_MILLISECONDS = 1e11
"""Times above this are milliseconds: as seconds they would lie beyond the year 5000."""
_TASK = (
    "{task}\n\n"
    "[You are a sub-agent of session {parent}. Do the task above and nothing else; no person reads along or can be "
    "asked. Your last message is your report: what you found, with sources, and what stays open. "
    "If there is nothing to report, say ANNOUNCE_SKIP.]"
)
_SENT = (
    "[A message from session {parent}: another session of Hob, not the user. Your answer goes back to it; "
    "REPLY_SKIP sends none.]\n\n{message}"
)

_ONE_TURN = "This conversation ends with your answer, and later results are not shown: call sessions_yield before it."


class SubagentToolset:
    """Implements the tools by starting and querying runs."""

    def __init__(self, runs: SubagentRuns, models: ModelNames) -> None:
        self._runs = runs
        self._models = models
        self._store = runs.store
        self.toolset = Tools(
            self.spawn, self.subagents, self.sessions_yield, self.sessions_list, self.sessions_history,
            self.sessions_search, self.sessions_send, self.session_status, self.agents_list,
        )  # fmt: skip

    @implements(SPAWN_TOOL, HOB_LABEL)
    async def spawn(
        self,
        task: str,
        call: ToolCall,
        context: CallContext,
        label: str = "",
        name: str = "",
        agent: str = "",
        model: str = "",
        thinking: str = "",
        timeout_seconds: float = 0,
        cleanup: Literal["keep", "delete"] = "keep",
        context_mode: Literal["isolated", "fork"] = "isolated",
        share: Literal["isolated", "handoff", "inherit-readonly"] = "isolated",
        attachments: Sequence[str] = (),
    ) -> str:
        turn, depth = context.turn, depth_of(context.turn.session) + 1
        settings = self._runs.settings
        if model:
            self._check_model(model)
        if depth > settings.max_depth:
            raise InvalidCall("a sub-agent cannot begin another one here (subagents.max_depth)")
        if name and not _NAME.fullmatch(name):
            raise InvalidCall("a name has lower-case letters, digits, _ and -, and begins with a letter")
        if agent not in ("", AGENT):
            raise InvalidCall(f"there is no agent {agent!r}; there is {AGENT}")
        if thinking and thinking not in set(Thinking):
            raise InvalidCall(f"thinking is one of {', '.join(Thinking)}")
        secret = _stable_id(turn, call)
        id, session = InboundId(f"m_{secret[:14]}"), child_key(turn.session, str(UUID(secret[:32])))
        files = "".join(f"\n[attached: read blob:{blob.removeprefix('blob:')}]" for blob in attachments)
        inbound = make_self_message(
            turn, context.trust, _TASK.format(parent=turn.session, task=task + files),
            id=id, key=message_key(id), to=Address(INTERNAL_CHANNEL, id),
        )  # fmt: skip
        inbound = replace(
            inbound,
            session=session,
            trace=new_trace_id(),
            model=model or settings.model or (await self._store.sessions.get(turn.session)).model,
            quoted=await self._share_conversation(turn.session, context_mode, share),
        )
        row = await self._make_row(context, id, session, kind=SPAWN, depth=depth)
        row = replace(
            row,
            name=name,
            label=label or name or short_title(task),
            cleanup=cleanup,
            seconds=timeout_seconds,
            parent_trace=turn.trace,
        )
        accepted = events_of(row, "spawn_accepted", self._runs.clock)
        chosen = SessionChange() if is_private(session) else SessionChange(title=title_of(label or name or task))
        if thinking:
            chosen["thinking"] = Thinking(thinking)
        await self._store.subagents.add(row, inbound, settings.max_children, accepted, **chosen)
        self._runs.wake()
        told = {"accepted": True, "runId": id, "childSessionKey": session}
        return json.dumps(told | ({"note": _ONE_TURN} if turn.session.startswith(ONE_TURN_PREFIX) else {}))

    def _check_model(self, name: str) -> None:
        """Raise InvalidCall if no model has this name."""
        try:
            self._models.check(name)
        except NotFound as unknown:
            known = ", ".join(self._models.names())
            which = f"there are: {known}" if known else "leave `model` out for the usual one"
            raise InvalidCall(f"no model is called {name!r}; {which}") from unknown

    async def _make_row(
        self, context: CallContext, id: InboundId, session: SessionKey, *, kind: str, depth: int
    ) -> SubagentRow:
        turn = context.turn
        above = await self._store.subagents.spawned_as(turn.session) if depth_of(turn.session) else None
        origin = turn.inbounds[0].origin if above is None else above.origin
        if (told := await find_run(self._store, origin)) is not None:  # Hob's own chats belong to a person's chat
            origin = told.origin
        root = turn.session if above is None else above.root
        return SubagentRow(id, kind, turn.id, turn.session, root, session, depth, "", "", origin)

    async def _share_conversation(self, session: SessionKey, mode: str, share: str) -> tuple[Quoted, ...]:
        """Return the part of the conversation that a sub-agent sees, as quoted text."""
        if mode == "isolated" and share == "isolated":
            return ()
        view = await self._store.transcript.load_view(session, 500)
        said = [entry for entry in view.entries if entry.text and entry.role in ("user", "assistant")]
        if mode == "fork":
            text = _format_entries(said, _FORK_CHARACTERS)[-_FORK_CHARACTERS:]
        elif share == "handoff":
            text = _format_entries(said, _HANDOFF_CHARACTERS)[-_HANDOFF_CHARACTERS:]
        else:
            count, each, whole = _INHERITED
            text = _format_entries(said[-count:], each)[:whole]
        clean = all(entry.label.trusted for entry in said)
        label = Label(Origin.CLIENT, Trust.TRUSTED if clean else Trust.UNTRUSTED)
        return (Quoted(f"[The conversation that the task comes from]\n{text}", label),) if text else ()

    @implements(SUBAGENTS, HOB_LABEL)
    async def subagents(
        self,
        action: Literal["list", "steer", "kill"],
        call: ToolCall,
        context: CallContext,
        target: str = "last",
        text: str = "",
    ) -> str:
        session = context.turn.session
        rows = [row for row in await self._store.subagents.of(session) if row.kind == SPAWN]
        if action == "list":
            return json.dumps([_list_item(n, row) for n, row in enumerate(rows, 1)])
        if action == "kill" and target == "all":
            chosen = [row for row in rows if row.open and row.parent == session]
        else:
            chosen = [_select(rows, target)]
        if action == "kill":
            at_work = [row for row in chosen if row.open]
            for row in at_work:
                await self._runs.end(row)
                await self._runs.note(row, "kill")
            over = "".join(f" {row.id} had already ended ({row.status})." for row in chosen if not row.open)
            return (f"Ended: {', '.join(row.id for row in at_work)}." if at_work else "None was at work.") + over
        (row,) = chosen
        if not row.open or not text.strip():
            raise InvalidCall("steer needs text, and a sub-agent that is at work")
        id = InboundId(f"m_{_stable_id(context.turn, call)[:14]}")
        inbound = make_self_message(
            context.turn, context.trust, f"[From the session that gave the task]\n\n{text}",
            id=id, key=f"steer:{id}", to=Address(INTERNAL_CHANNEL, row.id),
        )  # fmt: skip
        await self._store.subagents.steer(
            context.turn.id, row.id, replace(inbound, session=row.session, trace=new_trace_id())
        )
        await self._runs.note(row, "steer")
        self._runs.wake()
        return f"Told {row.label or row.id}; its report will answer that too."

    @implements(SESSIONS_YIELD, HOB_LABEL)
    async def sessions_yield(self, context: CallContext) -> str:
        rows = await self._store.subagents.of(context.turn.session)
        if not any(row.parent == context.turn.session and row.taken is None for row in rows):
            return "No sub-agent is at work, and every result was given."
        raise ResultPending("child")

    @implements(SESSIONS_LIST)
    async def sessions_list(
        self,
        context: CallContext,
        search: str = "",
        active_minutes: int = 0,
        limit: int = 20,
        archived: bool = False,
        kinds: Sequence[Literal["main", "subagent"]] = (),
        message_limit: int = 0,
    ) -> str:
        now = self._runs.clock.now().timestamp()
        found = [
            each
            for each in await self._visible(context, archived=archived)
            if search.casefold() in f"{each.key} {each.title}".casefold()
            if not active_minutes or now - each.updated <= 60 * active_minutes
            if not kinds or _kind(each.key) in kinds
        ][:limit]
        views = [_session_view(each, now) for each in found]
        for view in views if message_limit else ():
            view["messages"] = await self._history(view["session"], message_limit)
        return json.dumps(views)

    @implements(SESSIONS_HISTORY)
    async def sessions_history(
        self,
        session: str,
        context: CallContext,
        limit: int = 20,
        offset: int = 0,
        include_tools: bool = True,
    ) -> str:
        key = (await self._find(context, session)).key
        return await self._history(key, limit, offset, tools=include_tools) or "Nothing was said there."

    async def _history(self, key: SessionKey, limit: int, offset: int = 0, *, tools: bool = False) -> str:
        view = await self._store.transcript.load_view(key, limit + offset)
        shown = view.entries[: len(view.entries) - offset][-limit:]
        said = [entry for entry in shown if entry.text and (tools or entry.role != "tool")]
        return _format_entries(said, _ENTRY_CHARACTERS)[-_HISTORY_CHARACTERS:]

    @implements(SESSIONS_SEARCH)
    async def sessions_search(self, query: str, context: CallContext, limit: int = 10) -> str:
        found: list[str] = []
        for session in (await self._visible(context))[:_MAX_SEARCHED]:
            view = await self._store.transcript.load_view(session.key, 500)
            hits = [entry.text for entry in reversed(view.entries) if query.casefold() in entry.text.casefold()]
            found += [f"{session.key}: {_excerpt(text, query)}" for text in hits]
        return "\n".join(found[:limit]) or f"No session says {query!r}."

    @implements(SESSIONS_SEND, HOB_LABEL)
    async def sessions_send(
        self,
        session: str,
        message: str,
        call: ToolCall,
        context: CallContext,
        timeout_seconds: float = 60,
    ) -> str:
        key = (await self._find(context, session)).key
        if key == context.turn.session or ":thread:" in key:
            raise InvalidCall("this is the same session, or a thread that only its own chat writes to")
        id = InboundId(f"m_{_stable_id(context.turn, call)[:14]}")
        text = _SENT.format(parent=context.turn.session, message=message)
        inbound = make_self_message(
            context.turn, context.trust, text, id=id, key=message_key(id), to=Address(INTERNAL_CHANNEL, id)
        )  # fmt: skip
        row = await self._make_row(context, id, key, kind=SEND, depth=depth_of(context.turn.session))
        row = replace(row, seconds=timeout_seconds, taken=None if timeout_seconds else "nobody")
        await self._store.subagents.add(row, replace(inbound, session=key, trace=new_trace_id()))
        self._runs.wake()
        if timeout_seconds:
            raise ResultPending("child")
        return "Sent; no answer is awaited."

    @implements(SESSION_STATUS)
    async def session_status(
        self, context: CallContext, session: str = "", model: str = "", changes_since: str = ""
    ) -> str:
        now = self._runs.clock.now()
        since = _parse_time(changes_since) if changes_since else None
        found = await self._find(context, session) if session else await self._store.sessions.get(context.turn.session)
        if model:
            found = replace(found, model=await self._choose_model(context, found.key, model))
        spent = await self._store.ledger.spent(session=found.key)
        view = _session_view(found, now.timestamp())
        return json.dumps(
            {
                **view,
                "model": found.model or self._models.default() or None,
                "cost_usd": dollars(spent.cost),
                "calls": spent.calls,
                "tokens": spent.usage.input + spent.usage.output,
                "now": now.isoformat(),
                **({} if since is None else {"changes": await self._changes(found, since)}),
            }
        )

    async def _choose_model(self, context: CallContext, key: SessionKey, name: str) -> str | None:
        """Set a session's model; `default` clears it. Only the owner may choose."""
        if depth_of(context.turn.session) or not _is_owners(context.turn):
            raise InvalidCall("to choose a model is the owner's")
        wanted = None if name.casefold() == "default" else name
        if wanted is not None:
            self._check_model(wanted)
        await self._store.sessions.change(key, model=wanted)
        return wanted

    async def _changes(self, session: Session, since: float) -> dict[str, Any]:
        """Return what was said and spent in a session after a time."""
        view = await self._store.transcript.load_view(session.key, _MAX_CHANGED)
        entries = [entry for entry in view.entries if entry.at > since and entry.role in ("user", "assistant")]
        spent = await self._store.ledger.spent(session=session.key, since=since)
        said = [f"{entry.role}: {title_of(entry.text)}" for entry in entries if entry.text][-_CHANGES_SHOWN:]
        return {"messages": len(entries), "newest": said, "calls": spent.calls, "cost_usd": dollars(spent.cost)}

    @implements(AGENTS_LIST, HOB_LABEL)
    async def agents_list(self) -> str:
        return json.dumps([{"id": AGENT}])

    # which sessions are visible

    async def _visible(self, context: CallContext, *, archived: bool = False) -> Sequence[Session]:
        own = context.turn.session
        if self._runs.settings.visibility == "all" and _is_owners(context.turn):
            put_away = await self._store.sessions.find(archived=True) if archived else ()
            return (*await self._store.sessions.find(), *put_away)
        keys = [own]
        if self._runs.settings.visibility != "self":
            keys += [row.session for row in await self._store.subagents.of(own) if row.kind == SPAWN]
        found = [await self._store.sessions.get(key) for key in dict.fromkeys(keys)]
        return sorted((each for each in found if archived or not each.archived), key=lambda each: -each.updated)

    async def _find(self, context: CallContext, name: str) -> Session:
        seen = await self._visible(context, archived=True)
        labels = {row.session: row.label for row in await self._store.subagents.of(context.turn.session)}
        found = [each for each in seen if name in (each.key, each.title, labels.get(each.key))]
        if len(found) != 1:
            raise InvalidCall(f"no session {name!r} is visible here; sessions_list shows those that are")
        return found[0]


def _is_owners(turn: Turn) -> bool:
    """Return whether only the owner wrote in this turn."""
    people = [inbound.sender.cls for inbound in (*turn.inbounds, *turn.joined)]
    return bool(people) and all(cls == "owner" for cls in people)


def _parse_time(text: str) -> float:
    """Return the Unix seconds of a time in ISO 8601, or in seconds or milliseconds since 1970. Raises InvalidCall."""
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        return number / 1_000 if number > _MILLISECONDS else number
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidCall(f"{text!r} is no time; give it like 2026-05-01T08:30:00+02:00") from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def _stable_id(turn: Turn, call: ToolCall) -> str:
    """Return an id that is the same when a call is repeated after a crash; models may reuse call ids."""
    return digest(f"{turn.id} {call.id} {call.arguments}")


def _select(rows: Sequence[SubagentRow], target: str) -> SubagentRow:
    """Select a run by `last`, number, session, label, name, or a prefix of its label or id. Raises InvalidCall."""
    if not rows:
        raise InvalidCall("this session has no sub-agents")
    if target == "last":
        return rows[-1]
    if target.isdecimal() and 1 <= int(target) <= len(rows):
        return rows[int(target) - 1]
    exact = [row for row in rows if target in (row.session, row.label, row.name, row.id)]
    close = [row for row in rows if row.label.startswith(target) or row.id.startswith(target)]
    found = exact or close
    if len(found) != 1:
        which = f"several sub-agents ({', '.join(row.id for row in found)})" if found else "no sub-agent"
        raise InvalidCall(f"{target!r} matches {which}; the action list shows all")
    return found[0]


def _list_item(n: int, row: SubagentRow) -> dict[str, Any]:
    return {"n": n, "runId": row.id, "label": row.label, "session": row.session, "status": row.why or row.status}


def _kind(session: SessionKey) -> str:
    return "subagent" if depth_of(session) else "main"


def _session_view(session: Session, now: float) -> dict[str, Any]:
    return {
        "session": session.key,
        "kind": _kind(session.key),
        "title": session.title,
        "entries": session.entries - session.since,
        "minutes_ago": round((now - session.updated) / 60) if session.updated else None,
        "archived": session.archived,
    }


def _format_entries(entries: Sequence[TranscriptEntry], each: int) -> str:
    return "\n".join(f"{entry.role}: {entry.text[:each]}" for entry in entries)


def _excerpt(text: str, query: str) -> str:
    place = text.casefold().find(query.casefold())
    return " ".join(text[max(0, place - 80) : place + 160].split())
