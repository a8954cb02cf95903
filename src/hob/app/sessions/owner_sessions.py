"""The owner's session operations: list, show, change, delete and fork."""

import asyncio
import os

from hob.agent.commands.slash_commands import CommandCall
from hob.agent.sessions import named_key
from hob.app.kernel import Kernel
from hob.bus.session_queues import SessionQueues
from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import SessionKey
from hob.core.messages import Address
from hob.core.translation.language import say, translatable
from hob.core.turns import Session, SessionChange
from hob.gateway.answer_types import (
    ForkedAnswer,
    SessionAnswer,
    SessionDeletedAnswer,
    SessionDetailsAnswer,
    SessionsAnswer,
)
from hob.store.erasure.erasure import Erasure
from hob.store.store import Store

_LAST = 6
_MAX_TITLE = 200


async def fork_session(
    store: Store, session: Session, language: str, before: int | None = None
) -> tuple[SessionKey, int]:
    """Copy a session's history, up to a position, into a new session with the same rules.

    Returns the new key and the number of copied entries. Without entries no session is created.
    """
    into = SessionKey(f"{session.key}-{os.urandom(3).hex()}")
    copied = await store.transcript.fork(session.key, before, into)
    if copied:
        prefix = say(language, "Fork of {title}", title="")
        await store.sessions.change(
            into,
            title=prefix + (session.title.removeprefix(prefix) or session.key),
            model=session.model,
            mode=session.mode,
            thinking=session.thinking,
            permission=session.permission,
            autonomy=session.autonomy,
        )
    return into, copied


class OwnerSessions:
    """Implements the owner's session operations. A bare name is a terminal session. All raise NotFound for an invalid
    name.
    """

    def __init__(self, store: Store, erasure: Erasure, session_queues: SessionQueues) -> None:
        self._store = store
        self._erasure = erasure
        self._session_queues = session_queues

    async def all(self, *, archived: bool) -> SessionsAnswer:
        """List sessions with entries, the latest first; only archived ones if asked."""
        found = await self._store.sessions.find(archived=archived)
        return {"sessions": [_view(each) for each in found if each.title or each.entries > each.since]}

    async def resolve(self, name: str) -> SessionKey:
        """Return the session key for a name, whether or not it exists; without a name, the terminal's own."""
        if name:
            return named_key("local", name)
        return await self._store.sessions.switched(Address("local", "main").key()) or named_key("local", "main")

    async def key(self, name: str) -> SessionKey:
        """Return the stored key of a session."""
        return (await self._find(name)).key

    async def one(self, name: str) -> SessionDetailsAnswer:
        """Return one session with its spending, queued messages and latest entries."""
        session, store = await self._find(name), self._store
        spent, view, waiting = await asyncio.gather(
            store.ledger.spent(session=session.key),
            store.transcript.load_view(session.key, _LAST),
            store.inbox.waiting(session.key),
        )
        return {
            **_view(session),
            "cost_usd": spent.cost / 1_000_000,
            "calls": spent.calls,
            "waiting": len(waiting),
            "last": [{"role": each.role, "at": each.at, "text": each.text} for each in view.entries if each.text],
        }

    async def change(
        self, name: str, *, title: str | None, paused: bool | None, archived: bool | None
    ) -> SessionAnswer:
        """Rename a session, hold or release its messages, archive or restore it. Raises InvalidRequest."""
        session = await self._find(name)
        chosen = SessionChange()
        if title is not None:
            chosen["title"] = _title(title)
        if archived is not None:
            chosen["archived"] = archived
        if paused:
            chosen["paused"] = True
        await self._store.sessions.change(session.key, **chosen)
        if paused is False:
            await self._session_queues.resume(session.key)
        return _view(await self._store.sessions.get(session.key))

    async def delete(self, name: str) -> SessionDeletedAnswer:
        """Erase the session's content. Raises InvalidRequest while a turn runs. New messages list the session again."""
        session = await self._find(name)
        erased = await self._erasure.erase_session(session.key, "the session was deleted")
        await self._store.sessions.reset(session.key, "deleted")
        return {"session": session.key, "erased": erased}

    async def fork(self, name: str, before: int | None = None) -> ForkedAnswer:
        """Fork the session, up to a position. Raises InvalidRequest."""
        session = await self._find(name)
        into, copied = await fork_session(self._store, session, self._session_queues.context.language, before)
        if not copied:
            raise InvalidRequest(translatable("nothing was said in {session} before that", session=session.key))
        return {**_view(await self._store.sessions.get(into)), "copied": copied, "of": session.key}

    async def _find(self, name: str) -> Session:
        session = await self._store.sessions.get(await self.resolve(name))
        if not session.updated:
            raise NotFound(
                translatable("there is no conversation {name}; `hob sessions` lists them", name=name or session.key)
            )
        return session


def _title(text: str) -> str:
    title = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if not title or len(title) > _MAX_TITLE:
        raise InvalidRequest(translatable("a title has 1 to {maximum} characters", maximum=_MAX_TITLE))
    return title


def _view(session: Session) -> SessionAnswer:
    return {
        "session": session.key,
        "title": session.title,
        "model": session.model,
        "permission": session.permission,
        "paused": session.paused,
        "archived": session.archived,
        "entries": session.entries - session.since,
        "updated": session.updated,
    }


async def fork(kernel: Kernel, call: CommandCall) -> str:
    """Copy the session and continue the chat in the copy. The old session stays.

    Clients that name the session with each message switch by themselves: no chat is moved.
    """
    into, copied = await fork_session(kernel.store, await kernel.store.sessions.get(call.session), call.language)
    if not copied:
        return say(call.language, "Nothing was said here yet that a copy could hold.")
    if call.inbound.session is not None:
        return say(call.language, "{into} is a copy of this; {old} goes on as it is.", into=into, old=call.session)
    await kernel.store.sessions.switch(call.inbound.origin.key(), into)
    return say(
        call.language, "From here on this is {into}; {old} stays as it was (`/session switch`).",
        into=into, old=call.session,
    )  # fmt: skip
