"""`hob retry`."""

from urllib.parse import quote

from hob.app.home import socket_of
from hob.app.reaching import reach
from hob.config import find_home, process_environment


def retry(id: str) -> int:
    """Bring back what failed or was set aside.

    Parameters
    ----------
    id:
        The id of a message or task (`hob tasks --all` shows them), or of an undelivered reply (`hob status`).
    """
    home = find_home(process_environment())
    running = socket_of(home).exists()
    reach(home, "POST", f"/retry/{quote(id, safe='')}", {}, lambda app: app.desk.retry(id))
    print(f"{id} is brought back" + ("" if running else "; it runs with `hob serve`, or now with `hob ask --resume`"))
    return 0
