"""Slash commands of memory."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hob.agent.commands.slash_commands import CommandCall
from hob.agent.sessions import thread_session
from hob.app.kernel import Kernel
from hob.core.errors import InvalidRequest, NotFound
from hob.core.events.timeline import EventKind, TimelineEvent
from hob.core.ids import SessionKey, new_event_id, new_inbound_id, new_span_id, new_trace_id
from hob.core.memory import PRIVATE, FactAction, GoalState, is_private
from hob.core.messages import POLLED_CHANNELS, Inbound
from hob.core.translation.code_words import PART_WORDS
from hob.core.translation.language import say, translated
from hob.gateway.lazy_ports import MemoryControls
from hob.gateway.memory import FactsQuery, ForgetRequest, MemoryQuery, SetGoalRequest
from hob.memory.views import fact_line, fact_text, goal_line, item_line, short
from hob.store.messages.inbox import InboxLimits

_SHOWN = 10
_MAX_FACTS = 30
_GOAL_STATES = (GoalState.OPEN, GoalState.DONE, GoalState.DROPPED)
_ID = re.compile(r"[0-9a-f]{6,32}")


async def remember(kernel: Kernel, call: CommandCall) -> str:
    """Remember a text; the reply has the id for undoing it."""
    if not call.rest.strip():
        return say(call.language, "Say what: /remember TEXT")
    if is_private(call.session):
        return say(call.language, "This conversation is private: nothing of it is remembered.")
    item = await kernel.port(MemoryControls).items.add(call.rest, call.session)
    return say(call.language, "Remembered. To undo: /forget {id}", id=item["id"][:12])


async def forget(kernel: Kernel, call: CommandCall) -> str:
    """Forget an item by id, with `said` also the messages that repeat it; given words, list matching items."""
    memory, wanted = kernel.port(MemoryControls), call.rest.strip()
    id, _, said = wanted.partition(" ")
    if not wanted:
        return say(call.language, "Say what: /forget ID, or /forget WORDS to look for it")
    try:
        if said not in ("", "said"):
            raise InvalidRequest(wanted)
        done = await memory.upkeep.forget(ForgetRequest(id=id, preview=False, said=bool(said)))
    except (NotFound, InvalidRequest) as error:
        if said == "said" and _ID.fullmatch(id):
            return translated(error.args[0], call.language)
        found = (await memory.items.items(MemoryQuery(query=wanted, limit=_SHOWN)))["items"]
        if not found:
            return say(call.language, "Nothing found.")
        head = say(call.language, "Which of these? /forget ID")
        return "\n".join([head, *map(item_line, found)])
    id = done["items"][0]["id"][:12] if done["items"] else id
    told = say(call.language, "Forgotten: {id}", id=id)  # without its text, which would be remembered again
    if said:
        told += "\n" + say(call.language, "Erased, messages included: {count}.", count=done["erased"])
    if quoted := done["quoted"]:
        told += "\n" + say(call.language, "Messages that still say it: {count}.", count=quoted)
        with suppress(NotFound):
            await memory.upkeep.forget(ForgetRequest(id=id, preview=True, said=True))
            told += " " + say(call.language, "`/forget {id} said` erases those too.", id=id)
    if backups := len(done["backups"]):
        told += "\n" + say(
            call.language, "Backups that may still hold it, until they are restored: {count}", count=backups
        )
    return told


async def look(kernel: Kernel, call: CommandCall) -> str:
    """List memories about some words; without words, the counts and what Hob was asked to remember."""
    memory, words = kernel.port(MemoryControls), call.rest.strip()
    action, _, rest = words.partition(" ")
    if action == FactAction.UNDO and rest.split():
        return "\n".join([await _settle(memory, call.language, FactAction.UNDO, id) for id in rest.split()])
    if action == FactAction.CORRECT and len(rest.split()) > 1 and is_private(call.session):
        return say(call.language, "This conversation is private: nothing of it is remembered.")
    if action in tuple(FactAction):
        return await _settle(memory, call.language, FactAction(action), rest)
    if words == "why":
        return _explained(call.language, (await memory.items.recalled(session=call.session))["items"])
    if words:
        seen = await memory.items.items(MemoryQuery(query=words, limit=_SHOWN))
        lines = [*map(item_line, seen["items"])] or [say(call.language, "Nothing found.")]
        if problem := seen["problem"]:
            lines.append(say(call.language, "By words alone; the embedder failed: {problem}", problem=short(problem)))
        return "\n".join(lines)
    status = await memory.status.status()
    counts = ", ".join(f"{each['name']} {each['chunk_count']}" for each in status["layers"] if each["chunk_count"])
    kept = (await memory.items.items(MemoryQuery(source="fact:remember", limit=_SHOWN)))["items"]
    facts = (await memory.facts.facts(FactsQuery()))["facts"]
    head = say(call.language, "Remembered: {counts}", counts=counts or "0")
    shown = [*map(item_line, kept), *(fact_line(call.language, fact) for fact in facts[:_MAX_FACTS])]
    if facts:
        shown.append(say(call.language, "Wrong? /memory correct ID [WHAT IS RIGHT], or /memory undo ID"))
    return "\n".join([head, *shown])


def _explained(language: str, items: Sequence[Mapping[str, Any]]) -> str:
    lines = []
    for item in items:
        parts = ", ".join(
            f"{say(language, PART_WORDS.get(name, name))} {part:+.2f}" for name, part in item["parts"].items()
        )
        told = say(language, "forgotten since") if item.get("forgotten") else item_line(item)
        lines.append(f"{told} = {item['score']:.2f}: {parts}")
    return "\n".join(lines) or say(language, "Nothing was recalled.")


async def goals(kernel: Kernel, call: CommandCall) -> str:
    """List the goals; with words add one, with an id and a state change one."""
    memory, (first, _, rest) = kernel.port(MemoryControls), call.rest.strip().partition(" ")
    state, _, note = rest.partition(" ")
    private = say(call.language, "This conversation is private: nothing of it is remembered.")
    if state in _GOAL_STATES and (not note or _ID.fullmatch(first)):
        if note and is_private(call.session):
            return private
        try:
            return goal_line(await memory.facts.set_goal(SetGoalRequest(id=first, state=state, note=note)))
        except NotFound as error:
            return translated(error.args[0], call.language)
    if call.rest.strip():
        if is_private(call.session):
            return private
        return goal_line(await memory.facts.set_goal(SetGoalRequest(text=call.rest)))
    known = (await memory.facts.goals(closed=False))["goals"]
    return "\n".join(map(goal_line, known)) or say(call.language, "No goals yet. /goals TEXT keeps one.")


async def _settle(memory: MemoryControls, language: str, action: FactAction, rest: str) -> str:
    id, _, right = rest.partition(" ")
    try:
        done = await memory.facts.settle(id, action, right.strip())
    except (NotFound, InvalidRequest) as error:
        return translated(error.args[0], language)
    if not done["after"]:
        return say(language, "No longer known: {fact}", fact=fact_text(language, done["before"]))
    return "\n".join(fact_line(language, fact) for fact in done["after"])


async def private(kernel: Kernel, call: CommandCall) -> str:
    """Start a conversation that is never added to memory; a text becomes its first message."""
    inbound, text = call.inbound, call.rest.strip()
    if is_private(call.session):
        told = say(call.language, "This conversation is private: nothing of it is remembered.")
        return f"{told} {say(call.language, 'Send your message without /private.')}" if text else told
    if text and (inbound.session is not None or inbound.origin.channel in POLLED_CHANNELS):
        # the sender waits for the answer to the command, not for that of another conversation
        return say(call.language, "Nothing was sent. Send /private alone, then your message.")
    home = kernel.session_queues.context.routing.session_of(inbound)
    key = thread_session(inbound, PRIVATE + os.urandom(3).hex(), home)
    if inbound.session is not None:  # the sender names the conversation with each message, so no chat is switched
        return say(call.language, "Nothing of {session} is remembered: go on there.", session=key)
    await kernel.store.sessions.switch(inbound.origin.key(), key)
    if text:
        await _say_there(kernel, inbound, key, text)
    return say(call.language, "From here on nothing is remembered. `/session switch` with another name ends it.")


async def _say_there(kernel: Kernel, command: Inbound, session: SessionKey, text: str) -> None:
    """Put the text of a command into this conversation, as a message of its sender. Raises Busy, StoreErrors."""
    inbound = replace(
        command, id=new_inbound_id(), key=f"{command.key}/private", text=text, session=session, trace=new_trace_id()
    )
    event = TimelineEvent(
        new_event_id(), inbound.trace, new_span_id(), None, kernel.clock.now().timestamp(), EventKind.INBOUND,
        inbound.origin.channel, session=session, sender_id=inbound.sender.id, sender_name=inbound.sender.name,
        label=inbound.label, text=text,
    )  # fmt: skip
    await kernel.store.inbox.accept(inbound, session=session, limits=InboxLimits(), event=event)
    kernel.session_queues.arrived(inbound, session, command=False)


COMMANDS = {"remember": remember, "forget": forget, "memory": look, "goals": goals, "private": private}
"""The commands by name."""
