"""`hob replay`: ask another model what a turn was asked."""

from collections.abc import Mapping
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.app.home import make_home
from hob.cli.dates_and_figures import age, in_language
from hob.cli.output import line, paint, printable, printed_json
from hob.cli.translating import _, ngettext
from hob.config.environment import find_home, process_environment
from hob.core.money import MICRO, price

_SECONDS = 600.0
_MOST_LINES = 40
"""Lines of the difference that are shown."""
_DIFFERENCE_COLOURS = {"+": "green", "-": "red", "@": "dim"}


def replay(turn: str, /, *, model: str = "", json: bool = False) -> int:
    """Ask another model what a turn was asked, and compare the answers.

    Tools return their recorded results; nothing is executed and nothing enters the conversation.

    Parameters
    ----------
    turn:
        An id from `hob timeline` or `hob tasks --all`.
    model:
        The model to ask; without it, only check whether the requests can be rebuilt.
    json:
        Print JSON.
    """
    make_home(find_home(process_environment()))
    seen = reach("POST", "/replay", {"id": turn, "model": model}, timeout=_SECONDS)
    if not printed_json(seen, json):
        _show(seen)
    now = seen["now"]
    return 1 if now is not None and now["trouble"] else 0


def _show(seen: Mapping[str, Any]) -> None:
    for place, each in enumerate(seen["rebuilt"], 1):
        said = {True: _("identical"), False: _("not identical"), None: _("cannot be told")}[each["identical"]]
        why = f": {line(_(each['why']))}" if each["why"] else ""
        colour = "green" if each["identical"] else "yellow"
        print(
            _("Request {step} to {model}: {said}", step=place, model=line(each["model"]), said=paint(said, colour))
            + why
        )
    _show_side(_("Then"), seen["then"], {})
    if seen["now"] is not None:
        _show_side(_("Now"), seen["now"], seen["then"])
    if changed := seen["difference"][2:]:
        print()
        print(paint(_("Difference"), "bold"))
        for each in changed[:_MOST_LINES]:
            print(paint(printable(each), _DIFFERENCE_COLOURS.get(each[:1], "")))
        if len(changed) > _MOST_LINES:
            print(ngettext("… {count} more line", "… {count} more lines", len(changed) - _MOST_LINES))


def _show_side(title: str, side: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Print one side's figures, with the change from `before` if given."""
    cost = "?" if side["cost_usd"] is None else _(price(round(side["cost_usd"] * MICRO)))
    print()
    print(f"{paint(title, 'bold')} {line(side['model'])}")
    print(" · ".join((
        ngettext("{count} model call", "{count} model calls", side["rounds"]),
        ngettext("{count} tool call", "{count} tool calls", len(side["calls"])),
        ngettext("{count} token", "{count} tokens", _tokens(side)) + _delta(_tokens(side), before and _tokens(before)),
        cost + _delta(side["cost_usd"], before and before["cost_usd"]),
        _duration(side["seconds"]) + _delta(side["seconds"], before and before["seconds"]),
    )))  # fmt: skip
    for call in side["calls"]:
        note = "" if call["recorded"] else paint("  " + _("not made then, so not answered"), "yellow")
        print(f"  {line(call['name'])} {line(call['arguments'])}{note}")
    if side["trouble"]:
        print(paint(line(_(side["trouble"])), "red"))
    print(printable(side["text"]) if side["text"] else paint(_("no text"), "dim"))


def _tokens(side: Mapping[str, Any]) -> int:
    return int(side["input_tokens"] + side["output_tokens"])


def _delta(now: float | None, then: Any) -> str:
    """Return the difference in brackets; empty if either figure is unknown."""
    return f" ({in_language(f'{100 * (now - then) / then:+,.0f}')} %)" if then and now is not None else ""


def _duration(seconds: float) -> str:
    return age(seconds) if seconds >= 1 else f"{max(1, round(seconds * 1000))} ms"
