"""Which models programs may name."""

from pathlib import Path

import pytest

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.app.models.catalog import ModelCatalog
from hob.core.clock import SystemClock
from hob.core.errors import ModelError, ModelFault, NotFound
from hob.core.settings import Secret
from hob.core.trust.labels import SenderClass
from hob.providers.catalog.prices import open_prices
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings, PriceSetting
from hob.store.settings import StoreSettings
from hob.store.store import open_store
from hob.testing.model_server import ModelServer

SETTINGS = ModelSettings(
    name="openai/gpt-5", fallbacks=["openai/gpt-5-mini"], aliases={"quick": "openai/gpt-5-nano"}, tasks={}
)
ENVIRON = {"OPENAI_API_KEY": "x"}


def model_catalog(settings: ModelSettings = SETTINGS, **environ: str) -> ModelCatalog:
    choice = ModelChoice(settings, ENVIRON | environ, which=lambda _: None, is_reachable=lambda _: False)
    unused: Budget = None  # type: ignore[assignment]  # names cost nothing
    return ModelCatalog(settings, choice, unused, SystemClock())


def test_configured_models_are_listed_default_first() -> None:
    assert model_catalog().names() == ("openai/gpt-5", "openai/gpt-5-mini", "quick")


@pytest.mark.parametrize("name", ["openai/gpt-5", "gpt-5", "quick", "openai/gpt-4o"])
def test_configured_and_connected_models_are_accepted(name: str) -> None:
    model_catalog().check(name)


@pytest.mark.parametrize("name", ["gpt-4o", "nonsense", "nonsense/model", "anthropic/claude", "", " "])
def test_unconnected_model_is_not_found(name: str) -> None:
    with pytest.raises(NotFound, match="GET /v1/models"):
        model_catalog().check(name)


@pytest.mark.parametrize("name", ["anything", "openai/gpt-5", "meta/llama"])
def test_unlisted_model_of_a_server_needs_the_servers_name(name: str) -> None:
    here = model_catalog(ModelSettings(base_url="http://127.0.0.1:9/v1", name="llama"), OPENAI_API_KEY="")
    assert here.names() == ("llama",)
    here.check(f"server/{name}")
    with pytest.raises(NotFound):
        here.check(name)


async def test_embedding_keeps_the_limits_and_is_recorded(tmp_path: Path) -> None:
    clock = SystemClock()
    async with ModelServer() as server, open_store(tmp_path, StoreSettings(), clock) as store:
        settings = ModelSettings(base_url=server.url, api_key=Secret.of("x"), name="fake-1", embedding="fake-embed")
        choice = ModelChoice(settings, {}, which=lambda _: None, is_reachable=lambda _: False)
        prices, _ = open_prices({"fake-embed": PriceSetting(input=1000.0, output=0.0)}, choice, tmp_path, clock)
        free = Budget(SpendingSettings(), store.ledger, prices, clock)
        here = ModelCatalog(settings, choice, free, clock)
        made = await here.embed(["a", "b"], SenderClass.MEMBER)
        assert len(made.vectors) == 2
        assert (await store.ledger.spent(sender=SenderClass.MEMBER)).calls == 1
        await here.aclose()
        assert (await store.ledger.spent()).cost > 0
        strict = Budget(SpendingSettings(daily=0.001), store.ledger, prices, clock)
        there = ModelCatalog(settings, choice, strict, clock)
        with pytest.raises(ModelError) as caught:
            await there.embed(["a"], SenderClass.OWNER)
        assert caught.value.fault is ModelFault.BUDGET
        await there.aclose()
