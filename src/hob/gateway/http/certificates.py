"""TLS certificates of the listeners, loaded and reloaded."""

import ssl

from hob.core.errors import NotConfigured, NotReady
from hob.core.translation.language import translatable
from hob.gateway.settings import GatewaySettings


def load_tls(settings: GatewaySettings) -> ssl.SSLContext | None:
    """Return the TLS context, or None without TLS. Raises NotConfigured."""
    if settings.tls_cert is None:
        if settings.tls_key is not None:
            raise NotConfigured(
                translatable("gateway.tls_key is set, and gateway.tls_cert is not: set both, or neither")
            )
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    load_certificate(context, settings)
    return context


def renew_certificate(context: ssl.SSLContext, settings: GatewaySettings) -> None:
    """Reload the files for future connections. Raises NotConfigured and then changes nothing."""
    load_certificate(ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), settings)  # an invalid one is never applied
    load_certificate(context, settings)


def load_certificate(context: ssl.SSLContext, settings: GatewaySettings) -> None:
    """Load the configured certificate into the context. Raises NotConfigured."""
    assert settings.tls_cert is not None  # noqa: S101 - checked by the callers
    try:
        context.load_cert_chain(settings.tls_cert, settings.tls_key)
    except ssl.SSLError as error:
        raise NotConfigured(
            translatable(
                "gateway.tls_cert {tls_cert} and gateway.tls_key {tls_key} are not a certificate and its key "
                "({reason}); both must be PEM files, the key without a passphrase",
                tls_cert=settings.tls_cert,
                tls_key=settings.tls_key or "in the same file",
                reason=error.reason or error,
            )
        ) from error
    except OSError as error:
        raise NotReady(
            translatable("gateway.tls_cert or gateway.tls_key cannot be read: {error}", error=str(error))
        ) from error
