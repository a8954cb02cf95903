"""Testing a model before it is saved, and saving it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hob.app.daemon.daemon_client import reach
from hob.app.models.candidates import ModelCandidate, draft_with_key
from hob.app.settings.sections import read_config
from hob.cli.onboarding.detection import list_models
from hob.core.errors import ModelError, ModelFault, NotConfigured
from hob.core.money import price
from hob.core.translation.language import translatable
from hob.core.values import dataclass

_HOPELESS = frozenset({ModelFault.NETWORK, ModelFault.TIMEOUT, ModelFault.AUTH})


@dataclass(frozen=True, slots=True)
class ModelTrial:
    """The result of a test: whether the model passed, whether it answered at all, and a description."""

    ok: bool
    answers: bool
    summary: str


def probe_candidate(home: Path, candidate: ModelCandidate) -> ModelTrial:
    """Ask for a word and a tool call. A running daemon does this, since it knows the spending limits.

    A typed key is kept in a private file meanwhile. Raises HobError.
    """
    with draft_with_key(home, candidate) as draft:
        fields = {"model": draft.model, "draft": draft.as_text()}
        row = reach("POST", "/models/test", fields, timeout=None)
    return _read(row)


def list_models_for(home: Path, candidate: ModelCandidate) -> tuple[str, ...]:
    """List the provider's models, best first; empty if it does not list them.

    Raises ModelError if the provider cannot be reached or refuses the key: testing would fail too.
    """
    try:
        with draft_with_key(home, candidate) as draft:
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
