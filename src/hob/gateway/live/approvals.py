"""What the owner is asked, and the owner's answers."""

from dataclasses import dataclass

from hob.gateway.approvals import approvals_view, settled_view
from hob.gateway.http.fields import Nothing, field
from hob.gateway.live.kinds import ClientWords


@dataclass(frozen=True, slots=True)
class Answering:
    """An answer to a question for approval."""

    approval: str = field("the question's id")
    allowed: bool = field("whether it may be done")
    scope: str = field("how far the approval reaches: one of the question's `scopes`", "once")


async def approvals(said: ClientWords[Nothing]) -> None:
    """The questions for approval that stand. To hear of new ones, subscribe to events of the kind `approval`."""
    await said.say("approvals", **await approvals_view(said.api.store, said.api.pending_approvals()))


async def answer(said: ClientWords[Answering]) -> None:
    """Give approval or refuse it; the turn goes on. The same answer again changes nothing."""
    api, asked, by = said.api, said.asked, said.caller.by
    view = await settled_view(
        api.store, api.pending_approvals(), asked.approval, allowed=asked.allowed, scope=asked.scope, by=by
    )
    await said.say("answered", **view)
