"""Checks whether a daemon could start with these settings, as far as possible without starting one."""

from pathlib import Path

from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.clock import SystemClock
from hob.core.errors import ModelError, NotConfigured
from hob.gateway.auth.tokens import checked_token
from hob.gateway.settings import GatewaySettings
from hob.guard.admission.passphrase import Passphrase
from hob.guard.admission.settings import AdmissionSettings
from hob.providers.catalog.catalog import LOCAL
from hob.providers.local.folder import ModelFolder
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings


def start_problem(config: Config) -> NotConfigured | None:
    """Return the first setting error that would prevent the start, or None."""
    try:
        _check_start(config)
    except NotConfigured as error:
        return error
    return None


def embedder_problem(config: Config) -> ModelError | None:
    """Return why `model.embedding` cannot embed, as far as known without calling it, or None."""
    name = config[ModelSettings].embedding
    if not name:
        return None
    try:
        ref = ModelChoice(config[ModelSettings], process_environment()).resolve(name)
        if ref.provider == LOCAL:
            ModelFolder(Path(ref.model).expanduser()).check()
    except ModelError as error:
        return error
    return None


def _check_start(config: Config) -> None:
    """Construct what the daemon constructs from these settings at its start. Raises NotConfigured."""
    loaded = config.sections.values()
    if GatewaySettings in loaded:
        gateway = config[GatewaySettings]
        if gateway.auth_token is not None:
            checked_token(gateway.auth_token)
        if gateway.tls_cert is not None or gateway.tls_key is not None:
            from hob.gateway.http.certificates import load_tls  # loads TLS

            load_tls(gateway)
    if AdmissionSettings in loaded:
        admission = config[AdmissionSettings]
        if admission.passphrase is not None:
            Passphrase(admission.passphrase.reveal(), admission.passphrase_hours, SystemClock())
