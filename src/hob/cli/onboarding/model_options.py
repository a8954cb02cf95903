"""The model described by command-line options."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from hob.app.models.candidates import ModelCandidate, address_problem, is_key, name_of
from hob.app.models.keys import ENVIRONMENT, FILE
from hob.app.models.provider_draft import ProviderConfigDraft
from hob.app.settings.sections import read_config
from hob.cli.onboarding.detection import DetectedModel
from hob.cli.onboarding.report import SetupOptions
from hob.config.environment import process_environment
from hob.config.secrets import scheme_of
from hob.core.errors import InvalidRequest
from hob.core.translation.language import translatable
from hob.providers.catalog.catalog import SERVER, find_provider
from hob.providers.plugins import is_plugin
from hob.providers.settings import ModelSettings


def candidate_of_options(
    options: SetupOptions, found: Sequence[DetectedModel], read_key: Callable[[], str]
) -> ModelCandidate:
    """Return the candidate that the options describe. Raises InvalidRequest."""
    if options.base_url and (trouble := address_problem(options.base_url)):
        raise InvalidRequest(trouble)
    provider = SERVER if options.base_url else _known(options.provider)
    if options.provider and not provider:
        raise InvalidRequest(
            translatable(
                "unknown provider {provider}; `hob onboard` without it lists them",
                provider=options.provider,
            )
        )
    head, slash, _ = options.model.partition("/")
    provider = provider or _known(head if slash else "") or (SERVER if options.model and not slash else "")
    if options.key and not provider:
        raise InvalidRequest("a key is for a provider: add --provider NAME, --model PROVIDER/MODEL or --base-url URL")
    model = options.model or usual_model(provider, found)
    if options.base_url and "/" in model and not model.startswith(f"{SERVER}/"):
        model = name_of(SERVER, model)
    there = next((each.draft for each in found if each.provider == provider == SERVER), ProviderConfigDraft())
    draft = ProviderConfigDraft(model, provider, options.base_url or there.base_url)
    if not options.key:
        same = [each for each in found if each.provider == provider and each.variable]
        return candidate_of(replace(same[0], draft=draft), options.keep_key) if same else ModelCandidate(draft)
    if options.key != "-":
        if not scheme_of(options.key):
            raise InvalidRequest("--key takes a reference (env:NAME, file:PATH, keyring:SERVICE/USER) or - for stdin")
        return ModelCandidate(replace(draft, key=options.key))
    if options.keep_key == ENVIRONMENT:
        raise InvalidRequest("a key from standard input cannot be kept in the environment; --keep-key file or keyring")
    typed = read_key()
    if not is_key(typed):
        raise InvalidRequest("there was no key on standard input, or it is more than a line of printable letters")
    return ModelCandidate(draft, typed, options.keep_key or FILE)


def _known(name: str) -> str:
    """Return the id of a known or configured provider; empty for any other name."""
    known = find_provider(name)
    if known is not None:
        return known.id
    return name if name in read_config()[ModelSettings].providers or (name and is_plugin(name)) else ""


def usual_model(provider: str, found: Sequence[DetectedModel]) -> str:
    """Return the model used if only the provider is named; empty for a server, which uses its first."""
    there = next((each.draft.model for each in found if each.provider == provider and each.draft.model), "")
    known = find_provider(provider)
    return there or (name_of(provider, known.model) if known is not None and known.model else "")


def candidate_of(found: DetectedModel, keep: str) -> ModelCandidate:
    """Return the detected model as a candidate; its key is copied if it is to be kept elsewhere."""
    if not found.variable or keep in ("", ENVIRONMENT):
        return ModelCandidate(found.draft)
    return ModelCandidate(found.draft, process_environment().get(found.variable, "").strip(), keep)
