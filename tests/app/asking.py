"""One call of the model's, and the owner's answer to what it asks."""

from collections.abc import Callable
from typing import Any

from hob.gateway.chat.inbound import owners_inbound
from hob.gateway.chat.outcome import watch
from hob.testing.model import calls
from tests.guard.daily.world import Office


async def say(hob: Office, call: tuple[str, str], answer: str, first: Callable[[], Any] = lambda: None) -> list[str]:
    """Let the model make this call, and answer what it asks after something has been done `first`; what was asked."""
    hob.model.script[:] = [calls(call), "Done."]
    api = hob.app.api
    asked: list[str] = []
    accepted = await api.accept(owners_inbound({"message": "go on", "session": "main"}, None, api.clock))
    async for item in watch(api, accepted, 30):
        if isinstance(item, dict):
            break
        for each in await hob.app.store.approvals.open(accepted.session):
            asked.append(each.shown)
            if (awaited := first()) is not None:
                await awaited
            said = {"message": f"{answer}:{each.id}", "session": "main"}
            await api.accept(owners_inbound(said, None, api.clock))
    return asked
