"""Opening the models named in the settings."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial
from pathlib import Path

from hob.core.clock import Clock
from hob.core.errors import ModelError
from hob.core.lazy import Lazy
from hob.core.ports.model import Profiles
from hob.core.ports.processes import ProcessRecords
from hob.core.ports.tools import Blobs
from hob.providers.media.image_descriptions import ImageDescriptions
from hob.providers.media.media import VISION, Media
from hob.providers.routing.choice import ModelChoice
from hob.providers.routing.classifier import Classifier
from hob.providers.routing.classifier_settings import ClassifierSettings
from hob.providers.routing.failover_model import Failover
from hob.providers.routing.model_routes import ModelRoutes
from hob.providers.routing.routing import ModelRouter
from hob.providers.routing.screening import Screening
from hob.providers.settings import ModelSettings


@asynccontextmanager
async def open_model(
    settings: ModelSettings,
    clock: Clock,
    *,
    choice: ModelChoice | None = None,
    environ: Mapping[str, str] | None = None,
    blobs: Blobs | None = None,
    profiles: Profiles | None = None,
    screening: Screening | None = None,
    classifier: ClassifierSettings | None = None,
    folder: Path | None = None,
    processes: ProcessRecords | None = None,
    silence: float = 90.0,
    draw: Callable[[], float] = random.random,
    changed: Sequence[Callable[[ModelSettings], None]] = (),
) -> AsyncIterator[ModelRouter]:
    """Return all connected models as one. Opens nothing before the first request.

    Without any model, every request fails with advice. `choice` is an existing resolution of settings and environment.
    CLIs run in `folder` and are recorded in `processes`. A model that sends nothing for `silence` seconds is abandoned
    if others are left. `changed` are called after a change of settings.
    """
    choice = choice or ModelChoice(settings, environ or {})
    await asyncio.to_thread(choice.line)  # finds the default model, which may take a moment, and caches it
    async with AsyncExitStack() as stack:

        def vision_by(settings: ModelSettings) -> Callable[[], ImageDescriptions] | None:
            if blobs is None:
                return None
            media = Media(settings, choice, clock, draw)
            stack.push_async_callback(media.aclose)
            return cache(partial(_open_vision, media, blobs, choice))

        routes = ModelRoutes(choice, settings, clock, blobs, profiles, folder, vision_by(settings), processes)
        stack.push_async_callback(routes.aclose)
        failover = Failover(
            routes.of, routes.open, clock, max_attempts=settings.max_attempts, draw=draw, silence=silence
        )
        rules = Lazy(partial(Classifier, classifier)) if classifier is not None and classifier.enabled else None
        yield ModelRouter(choice, routes, failover, settings, screening, rules, vision_by, changed)


def _open_vision(media: Media, blobs: Blobs, choice: ModelChoice) -> ImageDescriptions:
    found = media.find(VISION)
    if isinstance(found, ModelError):
        return ImageDescriptions(None, blobs)
    return ImageDescriptions(media.describer, blobs, str(found), local=choice.is_local(found))


def load_libraries(choice: ModelChoice) -> None:
    """Import what the first request needs: a tenth of a second of CPU, for which a daemon has time at startup."""
    usual = choice.default()
    if usual is not None and (connected := choice.connect(usual.provider)).base_url:
        import hob.providers.http.transport  # noqa: F401
        from hob.providers.routing.model_routes import open_wire

        open_wire(connected)
