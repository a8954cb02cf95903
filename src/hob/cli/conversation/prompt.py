"""`hob prompt`."""

from hob.app.daemon.daemon_client import reach
from hob.cli.language import _
from hob.cli.output import paint, print_json


def prompt(*, session: str = "main", json: bool = False) -> None:
    """Show the next request to the model, by section.

    Parameters
    ----------
    session:
        The session.
    json:
        Print JSON.
    """
    seen = reach("GET", "/prompt", {"session": session})
    if json:
        print_json(seen)
        return
    most = max((section["bytes"] for section in seen["sections"]), default=1) or 1
    print(f"{_('section'):22} {_('bytes'):>8} {_('tokens'):>8}  {_('cached')}")
    for section in seen["sections"]:
        bar = "█" * round(20 * section["bytes"] / most)
        cached = paint(_("yes").ljust(3), "green") if section["cached"] else "   "
        print(f"{section['name']:22} {section['bytes']:8} {section['tokens']:8}  {cached}     {paint(bar, 'blue')}")
    limit = _("of {limit} tokens").format(limit=seen["limit"])
    print(f"{_('all'):22} {seen['bytes']:8} {seen['tokens']:8}  {limit}")
