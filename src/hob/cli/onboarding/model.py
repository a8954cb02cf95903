"""The first step: choose, test and save a model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from hob.app.daemon.daemon_client import reach, reload_running
from hob.app.models.candidates import ModelCandidate, address_problem, draft_with_key, is_key, name_of, save_candidate
from hob.app.models.keys import ENVIRONMENT, FILE, KEYRING, has_keyring
from hob.app.models.provider_draft import ProviderConfigDraft
from hob.app.settings.sections import choose_models, read_config
from hob.cli.onboarding.detection import TITLES, DetectedModel, list_models
from hob.cli.onboarding.model_options import candidate_of, candidate_of_options, usual_model
from hob.cli.onboarding.report import SetupOptions, SetupOutcome, SetupPrompts, StepStatus, confirm
from hob.config.environment import process_environment
from hob.config.problems import ConfigLayer
from hob.core.errors import HobError, ModelError, ModelFault, NotConfigured
from hob.core.money import price
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.providers.catalog.catalog import PROVIDERS, SERVER
from hob.providers.routing.choice import NO_MODEL_ADVICE
from hob.providers.settings import ModelSettings

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


# Choosing a model and the place of its key interactively.

KEY_PAGES = {
    "anthropic": "https://console.anthropic.com/settings/keys",
    "openai": "https://platform.openai.com/api-keys",
    "gemini": "https://aistudio.google.com/apikey",
    "openrouter": "https://openrouter.ai/settings/keys",
    "deepseek": "https://platform.deepseek.com/api_keys",
    "groq": "https://console.groq.com/keys",
    "mistral": "https://console.mistral.ai/api-keys",
    "xai": "https://console.x.ai",
}
"""Pages on which providers issue keys."""

_KEEP, _KEY, _SERVER, _LOOK, _LATER = "keep", "key", "server", "look", "later"
_MAX_SHOWN = 30


def pick_model(
    home: Path, found: Sequence[DetectedModel], prompts: SetupPrompts, *, now: str, line: str
) -> ModelCandidate | Literal["look", "later"]:
    """Let the person choose a model. `now` is the configured model, `line` its full description.

    Choosing the configured one changes nothing.
    """
    usable = [each for each in found if each.draft.model and each.draft.model != now]
    options: list[tuple[str, str]] = [(_KEEP, translatable("Keep {model}", model=line))] if line else []
    options += [
        (str(place), translatable("{model}: {trial}", model=each.title, trial=each.line))
        for place, each in enumerate(usable)
    ]
    options += [
        (_KEY, "Another provider: enter a key"),
        (_SERVER, "A server of your own that speaks OpenAI chat completions"),
        (_LOOK, "Look again: I have started Ollama, or another local server"),
        (_LATER, "Not now"),
    ]
    match prompts.choose("Which model should Hob use?", options):
        case "keep":
            return ModelCandidate(ProviderConfigDraft())
        case "key":
            return _ask_provider(prompts)
        case "server":
            return _ask_server(home, prompts)
        case "look" | "later" as other:
            return other
        case place:
            return _ask_model(usable[int(place)], prompts)


def _ask_model(found: DetectedModel, prompts: SetupPrompts) -> ModelCandidate:
    candidate = candidate_of(found, FILE)  # the key's place is asked for once it works
    if len(found.models) < 2:
        return candidate
    model = prompts.choose(
        translatable("Which model of {provider}?", provider=found.title),
        [(name, name) for name in found.models[:_MAX_SHOWN]],
    )
    return replace(candidate, draft=replace(found.draft, model=name_of(found.provider, model)))


def _ask_provider(prompts: SetupPrompts) -> ModelCandidate | Literal["look"]:
    options = [(each.id, TITLES[each.id]) for each in PROVIDERS if each.id in KEY_PAGES]
    provider = prompts.choose("Which provider is your key for?", options)
    prompts.show(translatable("Create a key at {page}", page=KEY_PAGES[provider]), "dim")
    key = _ask_key("The key, empty to go back", prompts)
    return ModelCandidate(ProviderConfigDraft(usual_model(provider, ()), provider), key, FILE) if key else "look"


def _ask_key(question: str, prompts: SetupPrompts) -> str:
    while (key := prompts.read_secret(question)) and not is_key(key):
        prompts.show("✗ a key is one line without spaces", "red")
    return key


def _ask_server(home: Path, prompts: SetupPrompts) -> ModelCandidate | Literal["look"]:
    while True:
        if (candidate := _ask_address(prompts)) is None:
            return "look"
        try:
            names = list_models_for(home, candidate)
        except ModelError as error:
            prompts.show(translatable("✗ {trouble}", trouble=str(error)), "red")
            continue
        model = _ask_name(names, prompts)
        return replace(candidate, draft=replace(candidate.draft, model=name_of(SERVER, model)))


def _ask_address(prompts: SetupPrompts) -> ModelCandidate | None:
    question = "Its address, e.g. http://127.0.0.1:8000/v1, empty to go back"
    while (address := prompts.read(question)) and (trouble := address_problem(address)):
        prompts.show(translatable("✗ {trouble}", trouble=trouble), "red")
    if not address:
        return None
    return ModelCandidate(
        ProviderConfigDraft(provider=SERVER, base_url=address), _ask_key("Its key, empty for none", prompts), FILE
    )


def _ask_name(names: Sequence[str], prompts: SetupPrompts) -> str:
    if len(names) == 1:
        return names[0]
    if names:
        return prompts.choose("Which model?", [(name, name) for name in names[:_MAX_SHOWN]])
    while not (name := prompts.read("The model's name")):
        prompts.show("✗ the server does not list its models, so it needs a name", "red")
    return name


def confirm_failed_model(tried: ModelTrial, prompts: SetupPrompts) -> bool:
    """Explain why a model failed its test; return whether to save it anyway."""
    prompts.show(translatable("✗ {trouble}", trouble=tried.summary), "red")
    if not tried.answers:
        prompts.show("Nothing was written. Fix that and choose it again, or choose another one.", "dim")
        return False
    prompts.show("It can talk, but not act for you: files, commands and memory need tool calls.", "dim")
    return confirm(prompts, "Use it all the same?", default=False)


def with_key_place(candidate: ModelCandidate, keep: str, prompts: SetupPrompts) -> ModelCandidate:
    """Return the candidate with the place of its key."""
    variables = (name for provider in PROVIDERS for name in provider.keys)
    variable = next((name for name in variables if process_environment().get(name) == candidate.typed), "")
    options = [(FILE, "In a file that only you can read (secrets/ in Hob's home)")]
    options += [(KEYRING, "In the system's keyring")] if has_keyring() else []
    if variable:
        alone = translatable(
            "Only in {variable}: every shell and service that starts Hob must set it", variable=variable
        )
        options.append((ENVIRONMENT, alone))
    if keep in dict(options) or len(options) == 1:
        return replace(candidate, keep=keep or FILE)
    return replace(candidate, keep=prompts.choose("Where shall the key be kept?", options))


STEP = "model"
_AGAIN = "hob onboard"
_PUT_RIGHT = "fix this, or choose another model with --model"


def settle_model(
    home: Path, options: SetupOptions, found: Sequence[DetectedModel], read_key: Callable[[], str]
) -> SetupOutcome:
    """Without dialogue: test the requested model, else the configured one, else those found until one answers."""
    if options.names_model:
        return _save_first_passing([candidate_of_options(options, found, read_key)], home, options)
    if _is_configured():
        return _check(home, options)
    usable = [each for each in found if each.draft.model]
    if not usable:
        if not found:
            return SetupOutcome(STEP, StepStatus.FAILED, "nothing was found that could think", NO_MODEL_ADVICE)
        return SetupOutcome(
            STEP, StepStatus.FAILED, "; ".join(f"{each.title}: {each.how}" for each in found), _PUT_RIGHT
        )
    return _save_first_passing([candidate_of(each, options.keep_key) for each in usable], home, options)


def ask_for_model(
    home: Path, options: SetupOptions, find_models: Callable[[], Sequence[DetectedModel]], prompts: SetupPrompts
) -> SetupOutcome:
    """Ask until a model passes or the person postpones it. `find_models` looks again each time."""
    while True:
        now = read_config()[ModelSettings].name
        picked = pick_model(home, find_models(), prompts, now=now, line=_line() if _is_configured() else "")
        if isinstance(picked, ModelCandidate):
            name = picked.draft.model or "it"
            prompts.show(translatable("Asking {model} for a word and a tool call ...", model=name), "dim")
            tried = _try(home, picked)
            if tried.ok or confirm_failed_model(tried, prompts):
                kept = with_key_place(picked, options.keep_key, prompts) if picked.typed else picked
                return _save(home, kept, tried)
        elif picked == "later":
            return SetupOutcome(
                STEP, StepStatus.SKIPPED, "no model for now: messages are kept until there is one", _AGAIN
            )


def _is_configured() -> bool:
    settings = read_config()[ModelSettings]
    return bool(settings.name or settings.base_url or settings.providers)


def _line() -> str:
    return choose_models(read_config()).line()


def _save_first_passing(candidates: Sequence[ModelCandidate], home: Path, options: SetupOptions) -> SetupOutcome:
    """Save the first candidate that passes."""
    failures = []
    for candidate in candidates:
        try:
            candidate = _with_model(home, candidate)
        except ModelError as error:
            failures.append(str(error))
            continue
        tried = _try(home, candidate) if options.test else ModelTrial(ok=True, answers=False, summary="not tried")
        if tried.ok:
            return _save(home, candidate, tried)
        name = candidate.draft.model or candidate.draft.provider
        failures.append(tried.summary if tried.summary.startswith(name) else _with(name, tried.summary))
    told = failures[0] if len(failures) == 1 else "; ".join(failures) or "no models were found"
    return SetupOutcome(
        STEP, StepStatus.FAILED, told, "fix this, or choose another model with --model; --no-test saves it untried"
    )


def _check(home: Path, options: SetupOptions) -> SetupOutcome:
    if not options.test:
        return SetupOutcome(STEP, StepStatus.KEPT, translatable("{model}, not tried", model=_line()))
    tried = _try(home, ModelCandidate(ProviderConfigDraft()))
    if tried.ok:
        return SetupOutcome(STEP, StepStatus.KEPT, _with(_line(), tried.summary))
    return SetupOutcome(STEP, StepStatus.FAILED, tried.summary, _PUT_RIGHT)


def _with_model(home: Path, candidate: ModelCandidate) -> ModelCandidate:
    """Choose a server's first model if none is named."""
    draft = candidate.draft
    if draft.model or not draft.provider:
        return candidate
    names = list_models_for(home, candidate)
    return replace(candidate, draft=replace(draft, model=name_of(draft.provider, names[0]))) if names else candidate


def _try(home: Path, candidate: ModelCandidate) -> ModelTrial:
    try:
        return probe_candidate(home, candidate)
    except HobError as error:
        return ModelTrial(ok=False, answers=False, summary=str(error))


def _with(model: str, trial: str) -> str:
    return translatable("{model}: {trial}", model=model, trial=trial)


def _save(home: Path, candidate: ModelCandidate, tried: ModelTrial) -> SetupOutcome:
    try:
        changed = save_candidate(home, candidate)
    except NotConfigured as error:
        return SetupOutcome(
            STEP, StepStatus.FAILED, str(error), translatable("`{command}` tries again", command=_AGAIN)
        )
    told = _with(_line(), tried.summary)
    if not changed:
        return SetupOutcome(STEP, StepStatus.KEPT, told)
    source = read_config().origin("model.name")
    if source.layer not in (ConfigLayer.FILE, ConfigLayer.DEFAULT):
        told = translatable("{model}; but {source} outranks it", model=told, source=str(source))
    running = reload_running(home)
    if running is None:
        return SetupOutcome(STEP, StepStatus.DONE, told)
    if running["problem"]:
        told = translatable(
            "{model}; the running Hob continues as before: {problem}", model=told, problem=running["problem"]
        )
        return SetupOutcome(STEP, StepStatus.DONE, told)
    told = translatable("{model}; the running Hob took it up and asks {asked}", model=told, asked=running["model"])
    return SetupOutcome(STEP, StepStatus.DONE, told, "`hob retry` answers what was kept while there was no model")
