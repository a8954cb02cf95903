"""Webhooks in both directions."""

from hob.app.subsystem import Endpoints, Open, Subsystem
from hob.channels.webhooks.settings import WebhooksOut
from hob.core.lazy import Lazy
from hob.gateway.webhooks.settings import Webhooks


@Lazy
def _open() -> Open:
    from hob.app.notifications.webhooks import open_webhooks

    return open_webhooks


@Lazy
def _endpoints() -> Endpoints:
    from hob.gateway.routes.webhooks import ENDPOINTS

    return ENDPOINTS


WEBHOOKS = Subsystem(
    name="webhooks",
    settings={"webhooks": Webhooks, "webhooks_out": WebhooksOut},
    endpoints=_endpoints,
    open=_open,
)
