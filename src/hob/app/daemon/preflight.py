"""Checks whether a daemon could start with these settings, as far as possible without starting one."""

from pathlib import Path

from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.config.problems import ConfigProblem
from hob.core.clock import SystemClock
from hob.core.errors import ModelError, NotConfigured
from hob.core.translation.language import translatable
from hob.gateway.auth.tokens import checked_token
from hob.gateway.settings import GatewaySettings
from hob.guard.admission.passphrase import Passphrase
from hob.guard.admission.settings import AdmissionSettings
from hob.providers.catalog.catalog import LOCAL
from hob.providers.local.folder import ModelFolder
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings
from hob.tools.sandbox.settings import SandboxSettings
from hob.workspace.settings import WorkspaceSettings


def start_problem(config: Config) -> NotConfigured | None:
    """Return the first setting error that would prevent the start, or None."""
    try:
        _check_start(config)
    except NotConfigured as error:
        return error
    return None


def command_problem(config: Config) -> ConfigProblem | None:
    """Return why no command can run with these folders, and the setting concerned, or None."""
    sandbox, workspace = config[SandboxSettings], config[WorkspaceSettings]
    from hob.tools.sandbox.roots import resolve_root  # loads the sandbox's rules

    given = [("workspace.work_repo" if workspace.work_repo else "workspace.path", str(workspace.work), True)]
    given += [("sandbox.read", name, False) for name in sandbox.read]
    given += [("sandbox.write", name, True) for name in sandbox.write]
    for key, name, writable in given:
        try:
            resolve_root(name, Path.home(), writable=writable, forbidden=(config.home,))
        except NotConfigured as error:
            return ConfigProblem(
                translatable("no command can run: {error}", error=str(error)), key, config.origin(key).place
            )
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
