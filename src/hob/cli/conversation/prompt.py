"""`hob prompt`: the content of a conversation's next request."""

from hob.agent.prompt.section_aliases import SEED_SECTIONS
from hob.app.daemon.daemon_client import reach
from hob.cli.output import paint, printed_json
from hob.cli.translating import _
from hob.core.translation.language import translatable

SECTION_NAMES = (
    translatable("Identity"),
    translatable("Your files"),
    translatable("Notes of the conversation"),
    translatable("Observations"),
    translatable("Skills"),
    translatable("From memory"),
    translatable("Conversation"),
    translatable("everything else"),
)
"""Titles of the sections in order, and of the rest; `--json` has the names that Hob's forerunners use."""
SECTION_WORDS = (
    translatable("who Hob is and how it works"),
    translatable("your files on how Hob should be"),
    translatable("what it notes down for this conversation"),
    translatable("what it noticed in earlier conversations"),
    translatable("which skills it can open"),
    translatable("what it looks up for each message; `hob memory why` shows it of your newest"),
    translatable("what was said so far"),
    translatable("descriptions of tools, the time"),
)
"""Descriptions of the sections in order, and of the rest."""


def prompt(*, session: str = "", json: bool = False) -> None:
    """Show what the model would be sent next, part by part.

    Parameters
    ----------
    session:
        The conversation; by default the one that `hob ask` continues.
    json:
        Print JSON.
    """
    seen = reach("GET", "/prompt", {"session": session})
    if printed_json(seen, json):
        return
    maximum = max((section["bytes"] for section in seen["sections"]), default=1) or 1
    print(f"{_('section'):24} {_('bytes'):>8} {_('tokens'):>8}  {_('cached')}  {_('share')}")
    for seed, title, told in zip((*SEED_SECTIONS, ""), SECTION_NAMES, SECTION_WORDS, strict=True):
        own = [section for section in seen["sections"] if section["seed"] == seed]
        total = [sum(section[what] for section in own) for what in ("bytes", "tokens")]
        print(paint(f"{_(title):24} {total[0]:8} {total[1]:8}", "bold" if own else "dim"), end="")
        print(paint(f"          {_(told)}", "dim"))
        for section in own:
            bar = "█" * round(20 * section["bytes"] / maximum)
            cached = paint(_("yes").ljust(3), "green") if section["cached"] else "   "
            name = f"  {section['name']}"
            print(f"{name:24} {section['bytes']:8} {section['tokens']:8}  {cached}     {paint(bar, 'blue')}")
    limit = _("of {limit} tokens").format(limit=seen["limit"])
    print(f"{_('all'):24} {seen['bytes']:8} {seen['tokens']:8}  {limit}")
