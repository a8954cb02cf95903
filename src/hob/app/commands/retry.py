"""`hob retry`."""

from urllib.parse import quote

from hob.app.home import socket_of
from hob.app.reaching import reach
from hob.config import find_home, process_environment

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
    where = "" if socket_of(home).exists() else "; it runs with `hob serve`, or now with `hob ask --resume`"
    if id:
        reach(home, "POST", f"/retry/{quote(id, safe='')}", {}, lambda app: app.desk.retry(id))
        print(f"{id} is brought back{where}")
        return 0
    done = reach(home, "POST", "/retry", {"code": NO_MODEL}, lambda app: app.desk.retry_all(NO_MODEL))
    found = [each["id"] for each in done["retried"]]
    for each in found:
        print(f"{each} is brought back{where}")
    if not found:
        print("Nothing waits for a model; `hob tasks --all` shows what failed for another reason.")
    return 0
