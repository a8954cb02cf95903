"""`hob memory eval`: retrieval scores on labelled questions."""

import asyncio
from contextlib import aclosing
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from hob.cli.output import ProgressLine, paint, print_json
from hob.cli.translating import _
from hob.memory.evaluation import METRICS, EvaluationReport, Score, evaluate, read_labelled


def eval_(file: Path, /, *, model: Path | None = None,
          json: Annotated[bool, Parameter(help="Print JSON.")] = False) -> None:  # fmt: skip
    """Measure how well memory answers questions whose answers are known. Leaves your own memory alone.

    Parameters
    ----------
    file:
        Labelled questions: your own, `locomo10.json`, or a file of LongMemEval.
    model:
        A folder with a sentence-transformers model, by which meaning is compared too (extra `memory`).
    """
    report = asyncio.run(_evaluated(file, model))
    if json:
        categories = {name: _fields(score) for name, score in report.categories.items()}
        whole = {
            "format": report.format,
            "counted": report.counted,
            "items": report.items,
            "left_out": report.left_out,
            **_fields(report.whole),
        }
        print_json({**whole, "categories": categories})
        return
    asked, items = report.whole.questions, f"{report.items:,}"
    told = "{format}: {asked} questions over {items} items; evidence is counted by session."
    if report.counted == "turn":
        told = "{format}: {asked} questions over {items} items; evidence is counted by turn."
    print(_(told, format=report.format, asked=asked, items=items))
    if report.left_out:
        print(_("Questions without evidence, left out: {count}.", count=report.left_out))
    print(paint(f"{'':<28}{'n':>6}" + "".join(f"{name:>9}" for name in METRICS), "bold"))
    for name, score in {_("all"): report.whole, **report.categories}.items():
        print(f"{name:<28}{score.questions:>6}" + "".join(f"{100 * score.figures[each]:>9.1f}" for each in METRICS))


async def _evaluated(file: Path, model: Path | None) -> EvaluationReport:
    labelled, progress = read_labelled(file), ProgressLine()
    shown, of = _("conversations {done:,}/{of:,}"), len(labelled.conversations)

    def told(done: int) -> None:
        progress.show(shown.format(done=done, of=of))

    try:
        if model is None:
            return await evaluate(labelled, told=told)
        from hob.providers.local.embedder import LocalEmbedder

        async with aclosing(LocalEmbedder(model.expanduser())) as embedder:
            return await evaluate(labelled, embedder, told)
    finally:
        progress.end()


def _fields(score: Score) -> dict[str, object]:
    return {"questions": score.questions} | {name: round(value, 4) for name, value in score.figures.items()}
