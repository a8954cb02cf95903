"""`hob memory`: what is remembered, and how well it is found."""

import asyncio
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from hob.cli.language import _
from hob.cli.output import paint, print_json
from hob.memory.evaluation import METRICS, Score, evaluate, read_labelled

app = App(name="memory", help="What is remembered, and how well it is found.")


@app.command(name="eval")
def eval_(file: Path, /, *, json: Annotated[bool, Parameter(help="As JSON.")] = False) -> None:
    """How much of the evidence for labelled questions is found. Your own memory is neither read nor changed.

    Parameters
    ----------
    file:
        Labelled questions: your own, `locomo10.json`, or a file of LongMemEval.
    """
    report = asyncio.run(evaluate(read_labelled(file)))
    if json:
        categories = {name: _fields(score) for name, score in report.categories.items()}
        whole = {"format": report.format, "counted": report.counted, "items": report.items, **_fields(report.whole)}
        print_json({**whole, "categories": categories})
        return
    asked, items = report.whole.questions, f"{report.items:,}"
    if report.counted == "turn":
        counted = _("{format}: {asked} questions over {items} items; evidence is counted by turn.")
    else:
        counted = _("{format}: {asked} questions over {items} items; evidence is counted by session.")
    print(counted.format(format=report.format, asked=asked, items=items))
    print(paint(f"{'':<28}{'n':>6}" + "".join(f"{name:>9}" for name in METRICS), "bold"))
    for name, score in {_("all"): report.whole, **report.categories}.items():
        print(f"{name:<28}{score.questions:>6}" + "".join(f"{100 * score.figures[each]:>9.1f}" for each in METRICS))


def _fields(score: Score) -> dict[str, object]:
    return {"questions": score.questions} | {name: round(value, 4) for name, value in score.figures.items()}
