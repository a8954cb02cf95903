"""The step that chooses a web search provider."""

from pathlib import Path

from hob.app.settings.sections import SECTIONS, read_config
from hob.app.trust.audit import audit_action
from hob.cli.onboarding.report import SetupOptions, SetupOutcome, SetupPrompts, StepStatus
from hob.config.editing import set_values
from hob.config.environment import process_environment
from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.tools.web.settings import SEARCH_ENGINES, WebSettings, engine_of

NOBODY = "none"


def settle_search(home: Path, options: SetupOptions, prompts: SetupPrompts | None) -> SetupOutcome:
    """Set the web search provider; it receives the searches."""
    settings = read_config()[WebSettings]
    now, wanted, address = settings.search or NOBODY, options.search, ""
    if not wanted and prompts is not None:
        wanted = _ask(prompts, now)
        engine = engine_of(wanted)
        if engine and engine.needs == "searxng_url" and wanted != now:
            address = prompts.read("Where is your SearXNG?", settings.searxng_url or "http://localhost:8888")
    if not wanted or wanted == now:
        return SetupOutcome("web search", StepStatus.KEPT, _told(now))
    values = {"web.search": None if wanted == NOBODY else wanted}
    if address:
        values["web.searxng_url"] = address
    try:
        set_values(read_config().path, values, sections=SECTIONS, environ=process_environment())
    except NotConfigured as error:
        return SetupOutcome("web search", StepStatus.FAILED, str(error), "hob config set web.search NAME")
    for key in values:
        audit_action(home, "config.set", key)
    return SetupOutcome("web search", StepStatus.DONE, _told(wanted), _next(wanted))


def _ask(prompts: SetupPrompts, now: str) -> str:
    return prompts.choose(
        "Which search service should Hob use? It sees your searches.",
        ((NOBODY, "no web search"), *((name, engine.title) for name, engine in SEARCH_ENGINES.items())),
        now,
    )


def _told(name: str) -> str:
    return translatable("no web search") if name == NOBODY else translatable("{name} searches the web", name=name)


def _next(name: str) -> str:
    """Return what the provider still needs."""
    settings, engine = read_config()[WebSettings], engine_of(name)
    needs = engine.needs if engine else ""
    if needs == "search_key" and settings.search_key is None:
        return "hob secrets set web.search_key"
    if needs == "searxng_url" and not settings.searxng_url:
        return "hob config set web.searxng_url http://localhost:8888"
    return ""
