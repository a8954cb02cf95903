"""The first step: a model that answers, found or named, tried, written down."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from hob.app.drafts import Draft
from hob.app.home import socket_of
from hob.app.onboarding.finding import TITLES, Found, name_of
from hob.app.onboarding.keys import ENVIRONMENT, FILE, KEYRING, has_keyring
from hob.app.onboarding.outcomes import Asks, Outcome, Status, Wishes, confirm
from hob.app.onboarding.trying import Candidate, Tried, list_for, save_candidate, try_candidate
from hob.app.sections import choose_models, read_config
from hob.config import Layer, process_environment
from hob.config.secrets import scheme_of
from hob.core.errors import HobError, InvalidRequest, NotConfigured
from hob.providers import ModelSettings
from hob.providers.catalogue import PROVIDERS, SERVER, find_provider
from hob.providers.choice import NOTHING
from hob.providers.plugins import is_plugin

STEP = "model"
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
"""Where people make themselves a key."""

_KEEP, _KEY, _SERVER, _LOOK, _LATER = "keep", "key", "server", "look", "later"
_MOST_SHOWN = 30
_AGAIN = "hob onboard"


def settle_model(home: Path, wishes: Wishes, found: Sequence[Found], read_key: Callable[[], str]) -> Outcome:
    """Without asking: what is wished for, else what is configured, else the first that was found and answers."""
    if wishes.names_model:
        return _take([_wished(wishes, found, read_key)], home, wishes)
    if is_configured():
        return _check(home, wishes)
    usable = [each for each in found if each.draft.model]
    if not usable:
        told = "; ".join(f"{each.title}: {each.how}" for each in found) or "nothing was found that could think"
        return Outcome(STEP, Status.FAILED, told, NOTHING)
    return _take([_of_found(each, wishes.keep_key) for each in usable], home, wishes)


def ask_for_model(home: Path, wishes: Wishes, look: Callable[[], Sequence[Found]], asks: Asks) -> Outcome:
    """Ask until a model answered, or the person does without for now. `look` tells what is there by now."""
    while True:
        picked = _pick(home, look(), asks)
        if isinstance(picked, Candidate):
            asks.tell(f"Asking {picked.draft.model or 'it'} for a word and a tool call ...", "dim")
            tried = _try(home, picked)
            if tried.ok or _wants_it_anyway(tried, asks):
                kept = _with_place(picked, wishes.keep_key, asks) if picked.typed else picked
                return _save(home, kept, tried)
        elif picked == _LATER:
            return Outcome(STEP, Status.SKIPPED, "no model for now: messages are kept until there is one", _AGAIN)


def is_configured() -> bool:
    """Whether the settings say which model is asked."""
    settings = read_config()[ModelSettings]
    return bool(settings.name or settings.base_url or settings.providers)


def _line() -> str:
    return choose_models(read_config()).line()


# -- without asking


def _wished(wishes: Wishes, found: Sequence[Found], read_key: Callable[[], str]) -> Candidate:
    """What the command line says. Raises InvalidRequest."""
    if wishes.base_url and (trouble := _trouble_of(wishes.base_url)):
        raise InvalidRequest(trouble)
    provider = SERVER if wishes.base_url else _known(wishes.provider)
    if wishes.provider and not provider:
        raise InvalidRequest(
            f"nobody knows the provider {wishes.provider}; `hob models scan` and the reference tell whom"
        )
    head, slash, _ = wishes.model.partition("/")
    provider = provider or _known(head if slash else "") or (SERVER if wishes.model and not slash else "")
    if wishes.key and not provider:
        raise InvalidRequest("a key is for a provider: add --provider NAME, --model PROVIDER/MODEL or --base-url URL")
    model = wishes.model or _usual_model(provider, found)
    if wishes.base_url and "/" in model and not model.startswith(f"{SERVER}/"):
        model = name_of(SERVER, model)
    there = next((each.draft for each in found if each.provider == provider == SERVER), Draft())
    draft = Draft(model, provider, wishes.base_url or there.base_url)
    if not wishes.key:
        same = [each for each in found if each.provider == provider and each.variable]
        return _of_found(replace(same[0], draft=draft), wishes.keep_key) if same else Candidate(draft)
    if wishes.key != "-":
        if not scheme_of(wishes.key):
            raise InvalidRequest("--key takes a reference (env:NAME, file:PATH, keyring:SERVICE/USER) or - for stdin")
        return Candidate(replace(draft, key=wishes.key))
    typed = read_key()
    if not typed:
        raise InvalidRequest("there was no key on standard input")
    if wishes.keep_key == ENVIRONMENT:
        raise InvalidRequest("a key from standard input cannot be kept in the environment; --keep-key file or keyring")
    return Candidate(draft, typed, wishes.keep_key or FILE)


def _known(name: str) -> str:
    """The id of a provider that Hob or the settings know; empty for others."""
    known = find_provider(name)
    if known is not None:
        return known.id
    return name if name in read_config()[ModelSettings].providers or (name and is_plugin(name)) else ""


def _usual_model(provider: str, found: Sequence[Found]) -> str:
    there = next((each.draft.model for each in found if each.provider == provider and each.draft.model), "")
    known = find_provider(provider)
    return there or (name_of(provider, known.model) if known is not None and known.model else "")


def _of_found(found: Found, keep: str) -> Candidate:
    if not found.variable or keep in ("", ENVIRONMENT):
        return Candidate(found.draft)
    return Candidate(found.draft, process_environment().get(found.variable, "").strip(), keep)


def _take(candidates: Sequence[Candidate], home: Path, wishes: Wishes) -> Outcome:
    """Write down the first that passes."""
    failures = []
    for candidate in candidates:
        candidate = _with_model(home, candidate)
        tried = _try(home, candidate) if wishes.test else Tried(ok=True, answers=False, told="not tried")
        if tried.ok:
            return _save(home, candidate, tried)
        name = candidate.draft.model or candidate.draft.provider
        failures.append(tried.told if tried.told.startswith(name) else f"{name}: {tried.told}")
    told = "; ".join(failures) or "nothing was found that could be asked"
    return Outcome(
        STEP, Status.FAILED, told, "put that right, or name another with --model; --no-test saves it untried"
    )


def _check(home: Path, wishes: Wishes) -> Outcome:
    if not wishes.test:
        return Outcome(STEP, Status.KEPT, f"{_line()}, not tried")
    tried = _try(home, Candidate(Draft()))
    if tried.ok:
        return Outcome(STEP, Status.KEPT, f"{_line()}: {tried.told}")
    return Outcome(STEP, Status.FAILED, tried.told, "put that right, or name another with --model")


def _with_model(home: Path, candidate: Candidate) -> Candidate:
    """A server's first model where none is named."""
    draft = candidate.draft
    if draft.model or not draft.provider:
        return candidate
    names = list_for(home, candidate)
    return replace(candidate, draft=replace(draft, model=name_of(draft.provider, names[0]))) if names else candidate


def _try(home: Path, candidate: Candidate) -> Tried:
    try:
        return try_candidate(home, candidate)
    except HobError as error:
        return Tried(ok=False, answers=False, told=str(error))


def _save(home: Path, candidate: Candidate, tried: Tried) -> Outcome:
    try:
        changed = save_candidate(home, candidate)
    except NotConfigured as error:
        return Outcome(STEP, Status.FAILED, str(error), f"`{_AGAIN}` tries again")
    told = f"{_line()}: {tried.told}"
    if not changed:
        return Outcome(STEP, Status.KEPT, told)
    source = read_config().origin("model.name")
    outranked = f"; but {source} outranks it" if source.layer not in (Layer.FILE, Layer.DEFAULT) else ""
    running = "the Hob that is running has the former model until it is started again"
    return Outcome(
        STEP,
        Status.DONE,
        f"{told}{outranked}",
        running if socket_of(home).exists() else "",
    )


# -- asking


def _pick(home: Path, found: Sequence[Found], asks: Asks) -> Candidate | Literal["look", "later"]:
    now = read_config()[ModelSettings].name
    usable = [each for each in found if each.draft.model and each.draft.model != now]
    options = [(_KEEP, f"Keep {_line()}")] if is_configured() else []
    options += [(str(place), f"{each.title}: {each.line}") for place, each in enumerate(usable)]
    options += [
        (_KEY, "Another provider: enter a key"),
        (_SERVER, "A server of your own that speaks OpenAI chat completions"),
        (_LOOK, "Look again: I have started Ollama, or another local server"),
        (_LATER, "Not now"),
    ]
    match asks.choose("Which model shall think for Hob?", options):
        case "keep":
            return Candidate(Draft())
        case "key":
            return _ask_provider(asks)
        case "server":
            return _ask_server(home, asks)
        case "look" | "later" as other:
            return other
        case place:
            return _ask_model(usable[int(place)], asks)


def _ask_model(found: Found, asks: Asks) -> Candidate:
    candidate = _of_found(found, FILE)  # where it is kept is asked once it works
    if len(found.models) < 2:
        return candidate
    model = asks.choose(f"Which model of {found.title}?", [(name, name) for name in found.models[:_MOST_SHOWN]])
    return replace(candidate, draft=replace(found.draft, model=name_of(found.provider, model)))


def _ask_provider(asks: Asks) -> Candidate:
    options = [(each.id, TITLES[each.id]) for each in PROVIDERS if each.id in KEY_PAGES]
    provider = asks.choose("Whose key do you have?", options)
    asks.tell(f"A key of yours is made at {KEY_PAGES[provider]}", "dim")
    key = ""
    while not key:
        key = asks.read_secret("The key")
    return Candidate(Draft(_usual_model(provider, ()), provider), key, FILE)


def _ask_server(home: Path, asks: Asks) -> Candidate:
    address = ""
    while not address:
        address = asks.read("Its address, e.g. http://127.0.0.1:8000/v1")
        if address and (trouble := _trouble_of(address)):
            asks.tell(f"✗ {trouble}", "red")
            address = ""
    candidate = Candidate(Draft(provider=SERVER, base_url=address), asks.read_secret("Its key, empty for none"), FILE)
    names = list_for(home, candidate)
    if len(names) == 1:
        model = names[0]
    elif names:
        model = asks.choose("Which model?", [(name, name) for name in names[:_MOST_SHOWN]])
    else:
        model = asks.read("The model's name")
    return replace(candidate, draft=replace(candidate.draft, model=name_of(SERVER, model) if model else ""))


def _trouble_of(address: str) -> str:
    try:
        ModelSettings(base_url=address)
    except ValueError as error:
        return str(error)
    return ""


def _wants_it_anyway(tried: Tried, asks: Asks) -> bool:
    asks.tell(f"✗ {tried.told}", "red")
    if not tried.answers:
        asks.tell("Nothing was written. Put that right and choose it again, or choose another one.", "dim")
        return False
    asks.tell("It can talk, but not act for you: files, commands and memory need tool calls.", "dim")
    return confirm(asks, "Use it all the same?", default=False)


def _with_place(candidate: Candidate, keep: str, asks: Asks) -> Candidate:
    """Where the key is to be kept."""
    variable = next((name for name in _variables() if process_environment().get(name) == candidate.typed), "")
    options = [(FILE, "In a file that only you can read (secrets/ in Hob's home)")]
    options += [(KEYRING, "In the system's keyring")] if has_keyring() else []
    options += [(ENVIRONMENT, f"Only in {variable}: every shell and service that starts Hob must set it")] * bool(
        variable
    )
    if keep in dict(options) or len(options) == 1:
        return replace(candidate, keep=keep or FILE)
    return replace(candidate, keep=asks.choose("Where shall the key be kept?", options))


def _variables() -> Iterator[str]:
    return (name for provider in PROVIDERS for name in provider.keys)
