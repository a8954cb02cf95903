"""`/fork`: a chat goes on in a copy of its conversation."""

import os

from hob.agent.commands.slash_commands import CommandCall
from hob.app.kernel import Kernel
from hob.core.ids import SessionKey
from hob.core.translation.language import say


async def fork(kernel: Kernel, call: CommandCall) -> str:
    """Copy what was said, and lead the chat there. The old conversation stays."""
    into = SessionKey(f"{call.session}-{os.urandom(3).hex()}")
    if not await kernel.store.transcript.fork(call.session, None, into):
        return say(call.language, "Nothing was said here yet that a copy could hold.")
    await kernel.store.sessions.switch(call.inbound.origin.key(), into)
    return say(
        call.language, "From here on this is {into}; {old} stays as it was (`/session switch`).",
        into=into, old=call.session,
    )  # fmt: skip
