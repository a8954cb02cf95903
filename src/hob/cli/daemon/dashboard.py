"""`hob dashboard`: the page for browsers, signed in."""

import sys
import webbrowser

from hob.app.daemon.daemon_client import reach
from hob.cli.language import _
from hob.config.environment import process_environment


def dashboard(*, link: bool = False) -> None:
    """Open the dashboard in a browser, signed in; where there is none, print the link. It is good once.

    Parameters
    ----------
    link:
        Only print the link.
    """
    url = str(reach("POST", "/dashboard/link", {})["url"])
    if not link and _has_screen() and webbrowser.open(url):
        print(_("The dashboard opens in your browser."))
        return
    print(url)


def _has_screen() -> bool:
    environ = process_environment()
    return sys.platform == "darwin" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
