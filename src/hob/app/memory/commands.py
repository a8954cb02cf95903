"""The slash commands of memory."""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from hob.agent.commands.slash_commands import CommandCall
from hob.agent.sessions import thread_session
from hob.app.kernel import Kernel
from hob.core.errors import InvalidRequest, NotFound
from hob.core.memory import PRIVATE, is_private
from hob.core.translation.language import say
from hob.gateway.memory import ItemFilter, MemoryControl

_SHOWN = 10
_CHARACTERS = 200


async def remember(kernel: Kernel, call: CommandCall) -> str:
    """Keep what the owner says, with the id by which it is taken back."""
    if not call.rest.strip():
        return say(call.language, "Say what: /remember TEXT")
    if is_private(call.session):
        return say(call.language, "This conversation is private: nothing of it is remembered.")
    item = await kernel.port(MemoryControl).add(call.rest, call.session)
    return say(call.language, "Remembered. To undo: /forget {id}", id=item["id"][:12])


async def forget(kernel: Kernel, call: CommandCall) -> str:
    """Forget one item; for words it tells which items there are."""
    control, wanted = kernel.port(MemoryControl), call.rest.strip()
    if not wanted:
        return say(call.language, "Say what: /forget ID, or /forget WORDS to look for it")
    try:
        done = await control.forget(ItemFilter(id=wanted), preview=False)
    except (NotFound, InvalidRequest):
        found = (await control.items(ItemFilter(query=wanted, limit=_SHOWN)))["items"]
        if not found:
            return say(call.language, "Nothing is remembered that fits.")
        head = say(call.language, "Which of these? /forget ID")
        return "\n".join([head, *map(_line, found)])
    told = say(call.language, "Forgotten: {text}", text=_short(done["items"][0]["text"]))
    if backups := len(done["backups"]):
        told += "\n" + say(
            call.language, "Backups that may still hold it, until they are restored: {count}", count=backups
        )
    return told


async def look(kernel: Kernel, call: CommandCall) -> str:
    """What is remembered for some words; without words how much, and what Hob was asked to remember."""
    control, words = kernel.port(MemoryControl), call.rest.strip()
    if words:
        found = (await control.items(ItemFilter(query=words, limit=_SHOWN)))["items"]
        return "\n".join(map(_line, found)) or say(call.language, "Nothing is remembered that fits.")
    status = await control.status()
    counts = ", ".join(f"{each['name']} {each['chunk_count']}" for each in status["layers"] if each["chunk_count"])
    kept = (await control.items(ItemFilter(layer="fact", limit=_SHOWN)))["items"]
    head = say(call.language, "Remembered: {counts}", counts=counts or "0")
    return "\n".join([head, *map(_line, kept)])


async def private(kernel: Kernel, call: CommandCall) -> str:
    """Begin a conversation of which nothing enters memory."""
    if is_private(call.session):
        return say(call.language, "This conversation is private: nothing of it is remembered.")
    home = kernel.session_queues.context.routing.session_of(call.inbound)
    key = thread_session(call.inbound, PRIVATE + os.urandom(3).hex(), home)
    await kernel.store.sessions.switch(call.inbound.origin.key(), key)
    return say(call.language, "From here on nothing is remembered. `/session switch` with another name ends it.")


def _line(item: Mapping[str, Any]) -> str:
    day = f"{datetime.fromtimestamp(item['at'], UTC):%Y-%m-%d}"
    trust = "" if item["trust"] == "trusted" else f", {item['trust']}"
    return f"{item['id'][:12]} {_short(item['text'])} [{day}, {item['source']}{trust}]"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _CHARACTERS else f"{line[: _CHARACTERS - 1]}…"
