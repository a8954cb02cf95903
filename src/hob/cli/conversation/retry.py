"""`hob retry`."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from hob.app.daemon.daemon_client import reach
from hob.config.environment import find_home, process_environment

NO_MODEL = "no_model"
"""The code of what failed because no model could be asked (`hob.core.errors.ModelFault`)."""


def retry(id: str = "", /) -> int:
    """Bring back what failed or was set aside; without an ID all that came while no model could be asked.

    Parameters
    ----------
    id:
        The id of a message or task (`hob tasks --all` shows them), or of an undelivered reply (`hob status`).
    """
    home = find_home(process_environment())
    if id:
        done = reach(home, "POST", f"/retry/{quote(id, safe='')}", {}, lambda app: _with_messages(app, id))
        retried = [done]
    else:
        done = reach(home, "POST", "/retry", {"code": NO_MODEL}, _with_messages)
        retried = done["retried"]
    for each in retried:
        print(f"{each['id']} is brought back{_where(each)}")
    if not retried:
        print("Nothing waits for a model; `hob tasks --all` shows what failed for another reason.")
    return 0


async def _with_messages(app: Any, id: str = "") -> Mapping[str, Any]:
    """The same without a daemon: what runs only once somebody asks for it, with the id by which it is asked for."""
    if not id:
        found = await app.operations.retry_all(NO_MODEL)
        return {"retried": [await _with_message(app, each) for each in found["retried"]]}
    return await _with_message(app, await app.operations.retry(id))


async def _with_message(app: Any, done: Mapping[str, Any]) -> Mapping[str, Any]:
    message = await app.store.inbox.first_of(done["turn"])
    result = None if message is None else await app.store.inbox.find_result(message)
    return {**done, "resume": None if result is None or result.settled else message}


def _where(done: Mapping[str, Any]) -> str:
    """How it goes on; a daemon does so at once."""
    if "resume" not in done:
        return ""
    if done["resume"] is None:  # an answer that is there, and could not be delivered
        return "; it is sent when `hob serve` runs"
    return f"; it runs with `hob serve`, or now with: hob ask --resume {done['resume']}"
