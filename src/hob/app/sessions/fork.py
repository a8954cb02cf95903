"""The `/fork` command."""

from hob.agent.commands.slash_commands import CommandCall
from hob.app.kernel import Kernel
from hob.app.sessions.owner_sessions import fork_session
from hob.core.translation.language import say


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
