"""`hob prompt`: the content of a conversation's next request."""

from collections.abc import Sequence

from hob.agent.prompt.section_aliases import SEED_SECTIONS
from hob.app.daemon.daemon_client import reach
from hob.cli.dates_and_figures import number
from hob.cli.output import Cell, print_table, printed_json
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
    translatable("Everything else"),
)
"""Titles of the sections in order, and of the rest. The names that Hob's predecessors use follow in brackets."""
SECTION_WORDS = (
    translatable("who Hob is and how it works"),
    translatable("your files on how Hob should be"),
    translatable("what it notes down for this conversation"),
    translatable("what it noticed in earlier conversations"),
    translatable("which skills it can open"),
    translatable("what it looks up for each message; `hob memory why` shows what it found for your newest"),
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
    rows: list[Sequence[Cell]] = []
    for seed, title, told in zip((*SEED_SECTIONS, ""), SECTION_NAMES, SECTION_WORDS, strict=True):
        own = [section for section in seen["sections"] if section["seed"] == seed]
        total, tokens = (number(sum(section[what] for section in own), 0) for what in ("bytes", "tokens"))
        colour = "bold" if own else "dim"
        named = _(title) if seed in ("", title) else f"{_(title)} ({seed})"
        rows.append(((named, colour), (total, colour), (tokens, colour), "", (_(told), "dim")))
        for section in own:
            size, tokens = (number(section[what], 0) for what in ("bytes", "tokens"))
            bar = "█" * round(20 * section["bytes"] / maximum)
            cached = _("yes") if section["cached"] else ""
            rows.append((f"  {section['name']}", size, tokens, (cached, "green"), (bar, "blue")))
    limit = _("of {limit} tokens", limit=number(seen["limit"], 0))
    rows.append((_("total"), number(seen["bytes"], 0), number(seen["tokens"], 0), "", limit))
    print_table((_("section"), _("bytes"), _("tokens"), _("cached"), _("share")), rows, "", right=(1, 2))
