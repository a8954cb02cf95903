"""Whether a daemon would start with these settings, as far as that can be told without starting one."""

from importlib import import_module

from hob.config import Config
from hob.core.errors import NotConfigured
from hob.gateway.settings import GatewaySettings
from hob.gateway.tokens import checked_token


def start_objection(config: Config) -> NotConfigured | None:
    """What the start would say of the API's token and certificate; None where it would say nothing."""
    if GatewaySettings not in config.sections.values():
        return None
    settings = config[GatewaySettings]
    try:
        if settings.auth_token is not None:
            checked_token(settings.auth_token)
        if settings.tls_cert is not None or settings.tls_key is not None:
            import_module("hob.gateway.certificates").secured_by(settings)  # loads TLS, which few settings need
    except NotConfigured as error:
        return error
    return None
