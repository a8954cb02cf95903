"""External services of the tools: channels, browsers, and vision and speech models."""

from hob.agent.budget.budget import Budget
from hob.agent.budget.limits import SpendingSettings
from hob.agent.sessions import zone_of
from hob.agent.settings import AgentSettings
from hob.app.browser.port import BrowserControl
from hob.app.kernel import CACHE, Kernel
from hob.app.models.catalog import ModelCatalog
from hob.app.tools.own_messages import OwnMessages
from hob.app.tools.runtime import ExternalServices
from hob.bus.canvas import CanvasViewers
from hob.providers.catalog.prices import open_prices
from hob.providers.settings import ModelSettings


def open_outside(kernel: Kernel, viewers: CanvasViewers) -> ExternalServices:
    """Open the external services. Nothing connects before the first call; model calls are booked in the ledger."""
    config, agent = kernel.config, kernel.config[AgentSettings]
    models = config[ModelSettings]
    prices, _ = open_prices(models.prices, kernel.choice, config.home / CACHE, kernel.clock)
    limits, zone = config[SpendingSettings], zone_of(agent.timezone)
    budget = Budget(limits, kernel.store.ledger, prices, kernel.clock, agent.language, zone)
    catalog = ModelCatalog(models, kernel.choice, budget, kernel.clock)
    return ExternalServices(OwnMessages(kernel), catalog, viewers, catalog.aclose, kernel.port(BrowserControl))
