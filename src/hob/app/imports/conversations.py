"""Importing conversations in batches: through the process that owns the home, or by owning it here."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hob.app.daemon.daemon_client import error_of
from hob.app.daemon.unix_http import ConnectionLost, NotRunning, call
from hob.app.home import own, socket_of
from hob.app.imports.contents import SkippedPart, SourceConversation
from hob.app.imports.plan import Item, ItemKind, ItemStatus
from hob.app.imports.source_files import Unreadable
from hob.app.settings.sections import read_config
from hob.core.errors import HobError, InvalidRequest, StoreError
from hob.core.translation.language import translatable
from hob.gateway.imports import ImportRequest, PastMessage, take_over

BATCH = 500
_BATCH_CHARS = 1_000_000

Add = Callable[[ImportRequest], Awaitable[Mapping[str, Any]]]
Progress = Callable[[int, int, int], None]
"""Called with the number of all conversations, of finished ones, and of messages read so far."""


def plan_conversations(conversations: Sequence[SourceConversation]) -> Iterator[Item]:
    """Yield an item per conversation without reading it: what is new is known only when it is imported."""
    seen: set[str] = set()
    for each in conversations:
        why = "of a conversation that is taken above" if each.session in seen else ""
        seen.add(each.session)
        yield Item(ItemKind.CONVERSATION, each.source, each.session, ItemStatus.NEW, why, each)


def import_conversations(home: Path, items: Sequence[Item], progress: Progress, *, preview: bool) -> list[Item]:
    """Import all conversations, or only count what is new. Each ends as done, already present, or failed.

    Raises HomeInUse between two owners, and ConnectionLost if the owner exits; a repetition continues.
    """
    if not items:
        return []
    if preview and not (home / "hob.db").exists():
        return asyncio.run(_transfer(_count_as_new, items, progress, preview=True))
    try:
        call(socket_of(home), "GET", "/health", timeout=10)
    except NotRunning:
        return _import_here(home, items, progress, preview=preview)

    async def add(importing: ImportRequest) -> Mapping[str, Any]:
        answer = call(socket_of(home), "POST", "/import", body=_as_json(importing), timeout=120)
        if "error" in answer.body:
            raise error_of(answer.body)
        return answer.body

    try:
        return asyncio.run(_transfer(add, items, progress, preview=preview))
    except (ConnectionLost, NotRunning) as error:
        raise ConnectionLost(
            translatable("Hob stopped in between; what was imported is kept; run it again to continue")
        ) from error


def _import_here(home: Path, items: Sequence[Item], progress: Progress, *, preview: bool) -> list[Item]:
    """Own the home during the import. Other commands are answered, and a starting daemon takes over after a batch."""
    # the whole application is loaded only if no Hob is running
    from hob.app.composition import open_app
    from hob.app.daemon.drain import drain
    from hob.app.daemon.one_shot import serve_on_demand

    async def transfer() -> list[Item]:
        called = asyncio.Event()
        ended: list[Item] = []
        async with open_app(home, read_config(), own_only=True, on_handover=called.set) as app, serve_on_demand(app):

            async def add(importing: ImportRequest) -> Mapping[str, Any]:
                if called.is_set():
                    raise ConnectionLost
                return await take_over(app.store, importing)

            with suppress(ConnectionLost):
                ended = await _transfer(add, items, progress, preview=preview)
            await drain(app, asyncio.Event())  # requests of other processes
        if not ended:
            raise ConnectionLost(
                translatable(
                    "another Hob was started and took over; what was imported is kept; run it again to continue"
                )
            )
        return ended

    with own(home, "import"):
        return asyncio.run(transfer())


async def _count_as_new(importing: ImportRequest) -> Mapping[str, Any]:
    """Answer like a store that has none of these messages."""
    return {"new": len(importing.messages), "there": 0}


async def _transfer(add: Add, items: Sequence[Item], progress: Progress, *, preview: bool) -> list[Item]:
    ended: list[Item] = []
    read = 0
    for item in items:
        progress(len(items), len(ended), read)
        done = await _import_one(add, item, lambda n: progress(len(items), len(ended), read + n), preview=preview)  # noqa: B023
        ended.append(done)
        read += done.new + done.there
    progress(len(items), len(ended), read)
    return ended


async def _import_one(add: Add, item: Item, told: Callable[[int], None], *, preview: bool) -> Item:
    conversation = item.what
    if not isinstance(conversation, SourceConversation):
        raise TypeError(item)
    new = there = 0
    title, why = conversation.title, ""
    passed: Counter[str] = Counter()
    try:
        for batch in _batches(conversation, passed):
            title = title or next((each.text for each in batch if each.role == "user"), "")[:200]
            asked = ImportRequest(conversation.session, tuple(batch), title, preview)
            counted = await add(asked)
            new, there = new + counted["new"], there + counted["there"]
            told(new + there)
    except (Unreadable, InvalidRequest) as error:
        why = str(error)
    except StoreError:
        raise
    except HobError as error:
        if isinstance(error, ConnectionLost | NotRunning):
            raise
        why = str(error)
    status = ItemStatus.NEW if preview and new else ItemStatus.DONE if new else ItemStatus.THERE
    item = replace(item, new=new, there=there, passed=dict(passed))
    return (
        item.ended(ItemStatus.FAILED, why)
        if why
        else item.ended(status, "" if new or there else translatable("it holds no message"))
    )


def _batches(conversation: SourceConversation, passed: Counter[str]) -> Iterator[list[PastMessage]]:
    batch: list[PastMessage] = []
    chars = 0
    for each in _read(conversation):
        if isinstance(each, SkippedPart):
            passed[each.why] += 1
            continue
        size = len(each.text) + sum(len(call.arguments) for call in each.calls)
        if batch and (len(batch) >= BATCH or chars + size > _BATCH_CHARS):
            yield batch
            batch, chars = [], 0
        batch.append(each)
        chars += size
    if batch:
        yield batch


def _read(conversation: SourceConversation) -> Iterator[PastMessage | SkippedPart]:
    """Yield the conversation's messages. Raises Unreadable for any failure of its reader, which may be a plug-in's."""
    try:
        yield from conversation.read()
    except HobError:
        raise
    except Exception as error:  # the reader may be a plug-in's
        raise Unreadable(f"its reader failed: {type(error).__name__}: {error}"[:300]) from error


def _as_json(importing: ImportRequest) -> dict[str, Any]:
    return {
        "session": importing.session,
        "messages": [
            {
                "key": each.key,
                "role": each.role,
                "text": each.text,
                "at": each.at,
                "owner": each.owner,
                "calls": [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in each.calls],
                "call": each.call,
                "is_error": each.is_error,
            }
            for each in importing.messages
        ],
        "title": importing.title,
        "preview": importing.preview,
    }
