"""`hob replay`: a turn asked once more."""

from collections.abc import Mapping
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.app.home import make_home
from hob.cli.dates_and_figures import number
from hob.cli.output import line, paint, printable, printed_json
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment
from hob.core.money import MICRO, price

_SECONDS = 600.0


def replay(turn: str, /, *, model: str = "", json: bool = False) -> int:
    """Ask another model what a turn was asked, and compare.

    Tools answer with what they gave then; nothing is executed and nothing enters the conversation.

    Parameters
    ----------
    turn:
        An id that `hob timeline` or `hob tasks --all` shows.
    model:
        The model that is asked. Without one: only whether what was sent can be built again.
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
    for each in seen["rebuilt"]:
        said = {True: _("identical"), False: _("not identical"), None: _("cannot be told")}[each["identical"]]
        why = f": {line(_(each['why']))}" if each["why"] else ""
        colour = "green" if each["identical"] else "yellow"
        print(_("Request {step} to {model}: {said}").format(
            step=each["step"], model=line(each["model"]), said=paint(said, colour)
        ) + why)  # fmt: skip
    sides = [seen["then"], *([seen["now"]] if seen["now"] is not None else [])]
    for side in sides:
        print()
        print(paint(line(side["model"]), "bold"))
        cost = "?" if side["cost_usd"] is None else _(price(round(side["cost_usd"] * MICRO)))
        print(_("{rounds} model calls · {calls} tool calls · {tokens} tokens · {cost} · {seconds} s").format(
            rounds=side["rounds"], calls=len(side["calls"]), tokens=side["input_tokens"] + side["output_tokens"],
            cost=cost, seconds=number(side["seconds"]),
        ))  # fmt: skip
        for call in side["calls"]:
            note = "" if call["recorded"] else paint("  " + _("not made then, so not answered"), "yellow")
            print(f"  {line(call['name'])} {line(call['arguments'])}{note}")
        if side["trouble"]:
            print(paint(line(_(side["trouble"])), "red"))
        if side["text"]:
            print(printable(side["text"]))
