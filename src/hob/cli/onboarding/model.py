"""The first step: a model that answers, found or named, tried, written down."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from hob.app.daemon.daemon_client import reload_running
from hob.app.models.provider_draft import ProviderConfigDraft
from hob.app.settings_sections import choose_models, read_config
from hob.cli.onboarding.detection import DetectedModel, name_of
from hob.cli.onboarding.model_options import candidate_of, wished
from hob.cli.onboarding.model_picker import pick_model, wants_it_anyway, with_place
from hob.cli.onboarding.model_trial import Candidate, ModelTrial, list_for, save_candidate, try_candidate
from hob.cli.onboarding.report import Asks, SetupOptions, StepOutcome, StepStatus
from hob.config.problems import Layer
from hob.core.errors import HobError, ModelError, NotConfigured
from hob.core.language import translatable
from hob.providers.routing.choice import NOTHING
from hob.providers.settings import ModelSettings

STEP = "model"
_AGAIN = "hob onboard"
_PUT_RIGHT = "fix this, or choose another model with --model"


def settle_model(
    home: Path, wishes: SetupOptions, found: Sequence[DetectedModel], read_key: Callable[[], str]
) -> StepOutcome:
    """Without asking: what is wished for, else what is configured, else the first that was found and answers."""
    if wishes.names_model:
        return _take([wished(wishes, found, read_key)], home, wishes)
    if _is_configured():
        return _check(home, wishes)
    usable = [each for each in found if each.draft.model]
    if not usable:
        if not found:
            return StepOutcome(STEP, StepStatus.FAILED, "nothing was found that could think", NOTHING)
        return StepOutcome(
            STEP, StepStatus.FAILED, "; ".join(f"{each.title}: {each.how}" for each in found), _PUT_RIGHT
        )
    return _take([candidate_of(each, wishes.keep_key) for each in usable], home, wishes)


def ask_for_model(
    home: Path, wishes: SetupOptions, look: Callable[[], Sequence[DetectedModel]], asks: Asks
) -> StepOutcome:
    """Ask until a model answered, or the person does without for now. `look` tells what is there by now."""
    while True:
        now = read_config()[ModelSettings].name
        picked = pick_model(home, look(), asks, now=now, line=_line() if _is_configured() else "")
        if isinstance(picked, Candidate):
            name = picked.draft.model or "it"
            asks.tell(translatable("Asking {model} for a word and a tool call ...", model=name), "dim")
            tried = _try(home, picked)
            if tried.ok or wants_it_anyway(tried, asks):
                kept = with_place(picked, wishes.keep_key, asks) if picked.typed else picked
                return _save(home, kept, tried)
        elif picked == "later":
            return StepOutcome(
                STEP, StepStatus.SKIPPED, "no model for now: messages are kept until there is one", _AGAIN
            )


def _is_configured() -> bool:
    settings = read_config()[ModelSettings]
    return bool(settings.name or settings.base_url or settings.providers)


def _line() -> str:
    return choose_models(read_config()).line()


def _take(candidates: Sequence[Candidate], home: Path, wishes: SetupOptions) -> StepOutcome:
    """Write down the first that passes."""
    failures = []
    for candidate in candidates:
        try:
            candidate = _with_model(home, candidate)
        except ModelError as error:
            failures.append(str(error))
            continue
        tried = _try(home, candidate) if wishes.test else ModelTrial(ok=True, answers=False, told="not tried")
        if tried.ok:
            return _save(home, candidate, tried)
        name = candidate.draft.model or candidate.draft.provider
        failures.append(tried.told if tried.told.startswith(name) else _with(name, tried.told))
    told = failures[0] if len(failures) == 1 else "; ".join(failures) or "nothing was found that could be asked"
    return StepOutcome(
        STEP, StepStatus.FAILED, told, "fix this, or choose another model with --model; --no-test saves it untried"
    )


def _check(home: Path, wishes: SetupOptions) -> StepOutcome:
    if not wishes.test:
        return StepOutcome(STEP, StepStatus.KEPT, translatable("{model}, not tried", model=_line()))
    tried = _try(home, Candidate(ProviderConfigDraft()))
    if tried.ok:
        return StepOutcome(STEP, StepStatus.KEPT, _with(_line(), tried.told))
    return StepOutcome(STEP, StepStatus.FAILED, tried.told, _PUT_RIGHT)


def _with_model(home: Path, candidate: Candidate) -> Candidate:
    """A server's first model where none is named."""
    draft = candidate.draft
    if draft.model or not draft.provider:
        return candidate
    names = list_for(home, candidate)
    return replace(candidate, draft=replace(draft, model=name_of(draft.provider, names[0]))) if names else candidate


def _try(home: Path, candidate: Candidate) -> ModelTrial:
    try:
        return try_candidate(home, candidate)
    except HobError as error:
        return ModelTrial(ok=False, answers=False, told=str(error))


def _with(model: str, trial: str) -> str:
    return translatable("{model}: {trial}", model=model, trial=trial)


def _save(home: Path, candidate: Candidate, tried: ModelTrial) -> StepOutcome:
    try:
        changed = save_candidate(home, candidate)
    except NotConfigured as error:
        return StepOutcome(STEP, StepStatus.FAILED, str(error), translatable("`{command}` tries again", command=_AGAIN))
    told = _with(_line(), tried.told)
    if not changed:
        return StepOutcome(STEP, StepStatus.KEPT, told)
    source = read_config().origin("model.name")
    if source.layer not in (Layer.FILE, Layer.DEFAULT):
        told = translatable("{model}; but {source} outranks it", model=told, source=str(source))
    running = reload_running(home)
    if running is None:
        return StepOutcome(STEP, StepStatus.DONE, told)
    if running["problem"]:
        told = translatable(
            "{model}; the running Hob goes on as before: {problem}", model=told, problem=running["problem"]
        )
        return StepOutcome(STEP, StepStatus.DONE, told)
    told = translatable("{model}; the running Hob took it up and asks {asked}", model=told, asked=running["model"])
    return StepOutcome(STEP, StepStatus.DONE, told, "`hob retry` answers what was kept while there was no model")
