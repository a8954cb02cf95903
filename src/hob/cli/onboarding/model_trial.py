"""Trying a model live before it is written down, and writing it down."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.app.models.candidates import ModelCandidate, keyed
from hob.app.settings.sections import read_config
from hob.cli.onboarding.detection import list_models
from hob.core.errors import ModelError, ModelFault, NotConfigured
from hob.core.money import price
from hob.core.translation.language import translatable
from hob.core.values import dataclass

_HOPELESS = frozenset({ModelFault.NETWORK, ModelFault.TIMEOUT, ModelFault.AUTH})


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """What came of a trial: whether it passed, whether it answered at all, and that in words."""

    ok: bool
    answers: bool
    summary: str


def try_candidate(home: Path, candidate: ModelCandidate) -> ModelTrial:
    """Ask it for a word and a tool call; the home's owner asks, since it knows what may be spent.

    A typed key lies in a file of the owner's for that time. Raises HobErrors.
    """
    with keyed(home, candidate) as draft:
        fields = {"model": draft.model, "draft": draft.as_text()}
        row = reach("POST", "/models/test", fields, timeout=None)
    return _read(row)


def list_for(home: Path, candidate: ModelCandidate) -> tuple[str, ...]:
    """The names of the models that its provider offers, best first; none where it does not tell.

    Raises ModelError where it cannot be reached, or refuses the key: another answer is not to be had from it either.
    """
    try:
        with keyed(home, candidate) as draft:
            return list_models(read_config(), draft)
    except NotConfigured:
        return ()
    except ModelError as error:
        if error.fault in _HOPELESS:
            raise
        return ()


def _read(row: Mapping[str, Any]) -> ModelTrial:
    if not row["ok"]:
        return ModelTrial(ok=False, answers="answer" in row, summary=str(row["trouble"]))
    calls = "calls tools" if row["tools"] else "is shown no tools"
    told = translatable("answers within {seconds} s, {calls}", seconds=f"{row['seconds']:.1f}", calls=calls)
    if row["cost"]:
        told = translatable("{trial}, {price}", trial=told, price=price(row["cost"]))
    return ModelTrial(ok=True, answers=True, summary=told)
