"""`hob prompt`."""

from hob.app.daemon.daemon_client import reach
from hob.cli.output import paint, print_json


def prompt(*, session: str = "main", json: bool = False) -> None:
    """What the next request to the model holds, by section.

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
    print(f"{'section':22} {'bytes':>8} {'tokens':>8}  cached")
    for section in seen["sections"]:
        bar = "█" * round(20 * section["bytes"] / most)
        cached = paint("yes", "green") if section["cached"] else "   "
        print(f"{section['name']:22} {section['bytes']:8} {section['tokens']:8}  {cached}     {paint(bar, 'blue')}")
    print(f"{'all':22} {seen['bytes']:8} {seen['tokens']:8}  of {seen['limit']} tokens")
