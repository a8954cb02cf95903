"""Delivery rules: silent mode and web users."""

from hob.app.subsystem import Endpoints, Open, Subsystem
from hob.bus.settings import DeliverySettings
from hob.core.lazy import Lazy


@Lazy
def _open() -> Open:
    from hob.app.delivery_rules import open_delivery

    return open_delivery


@Lazy
def _api_v1() -> Endpoints:
    from hob.gateway.dashboard.webusers import ENDPOINTS

    return ENDPOINTS


DELIVERY = Subsystem(
    name="delivery", settings={"delivery": DeliverySettings}, one_shot=True, api_v1=_api_v1, open=_open
)
