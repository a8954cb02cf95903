"""Names of available models for completion, fetched when a model is first completed."""

import asyncio
from collections.abc import Sequence

from hob.app.models.probe import ModelSetup, open_model_setup
from hob.config.loading import Config
from hob.core.clock import SystemClock
from hob.core.errors import ModelError
from hob.providers.catalog.catalog import SERVER

_SECONDS = 15.0


def list_models(config: Config) -> Sequence[str]:
    """List every provider's models; providers that do not answer are skipped."""
    return asyncio.run(_list(config))


async def _list(config: Config) -> Sequence[str]:
    async with open_model_setup(config, SystemClock()) as setup:
        providers = [connected.provider.id for connected in setup.choice.connected()]
        found = await asyncio.gather(*(_of(setup, provider) for provider in providers))
    return [name for names in found for name in names]


async def _of(setup: ModelSetup, provider: str) -> Sequence[str]:
    prefix = "" if provider == SERVER else f"{provider}/"
    try:
        async with asyncio.timeout(_SECONDS):
            return sorted(f"{prefix}{listed.name}" for listed in await setup.model.routes.list_models(provider))
    except (ModelError, TimeoutError):
        return ()
