"""`hob dashboard`: sign a browser or a phone in."""

import sys
import webbrowser
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.app.home import holder_of
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment
from hob.core.errors import HobError, NotConfigured

_HALVES = {("0", "0"): " ", ("1", "0"): "▀", ("0", "1"): "▄", ("1", "1"): "█"}


def dashboard(*, link: bool = False, phone: bool = False, at: str = "", off: bool = False) -> int:
    """Open the dashboard in a browser, signed in. Without a browser, print a link that works once.

    Parameters
    ----------
    link:
        Only print the link.
    phone:
        Show a QR code that signs a phone in over HTTPS. If phones have no access yet, list possible addresses.
    at:
        With --phone: give phones access at this address of this machine, or in your `tailnet`.
    off:
        With --phone: end access for phones.
    """
    if not off and not holder_of(find_home(process_environment())):
        raise NotConfigured("the dashboard needs the daemon: start it with `hob serve`")
    if phone or at or off:
        return _phone(at, off=off)
    url = str(reach("POST", "/dashboard/link", {})["url"])
    if not link and _has_screen() and webbrowser.open(url):
        print(_("The dashboard opens in your browser."))
        return 0
    print(url)
    return 0


def _phone(at: str, *, off: bool) -> int:
    if off:
        _set("")
        print(_("The dashboard is closed to phones."))
        return 0
    before = reach("GET", "/dashboard/phone", timeout=120)
    if not (at or before["wanted"]):
        return _show_choices(before["choices"])
    if at:
        _set(at)
    try:
        made = reach("POST", "/dashboard/phone", {}, timeout=120)
    except HobError:
        if at:
            _set(before["wanted"])
        raise
    for line in qr_lines(made["qr"]):
        print(line)
    print(made["url"])
    print(_("It signs one browser in, once, within five minutes. `hob dashboard --phone --off` closes it."))
    if made["authority"]:
        told = _(
            "Once per phone: open {address}/hob-ca.crt there, continue past the warning and install the certificate. "
            "The phone must show this SHA-256; otherwise someone is intercepting the connection:"
        )
        print(f"\n{told.format(address=made['address'])}\n{made['authority']}")
    return 0


def _set(place: str) -> None:
    reach("POST", "/settings", {"values": {"dashboard.phone": place}})


def _show_choices(choices: Sequence[Mapping[str, Any]]) -> int:
    print(_("No phone can reach the dashboard. Possible addresses:"))
    width = max(len(each["at"]) for each in choices)
    for each in choices:
        print(f"  hob dashboard --phone --at {each['at']:{width}}  {_(each['problem']) or each['name']}")
    return 1


def qr_lines(rows: Sequence[str]) -> Sequence[str]:
    """Render a QR code, two rows per line, dark on light whatever the terminal's colours."""
    lines = ("".join(_HALVES[pair] for pair in zip(*two, strict=True)) for two in _pairs(rows))
    return [f"\x1b[30;107m{line}\x1b[0m" for line in lines]


def _pairs(rows: Sequence[str]) -> Sequence[tuple[str, str]]:
    return [*zip_longest(rows[::2], rows[1::2], fillvalue="0" * len(rows[0]))]


def _has_screen() -> bool:
    environ = process_environment()
    return sys.platform == "darwin" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))
