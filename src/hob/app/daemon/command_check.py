"""Checks whether commands could run with these settings, and in which sandbox."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from hob.config.loading import Config
from hob.config.problems import ConfigProblem
from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.guard.screening.masking.known_secrets import AT_HAND
from hob.tools.sandbox.settings import SandboxSettings
from hob.workspace.settings import WorkspaceSettings


def find_command_backend(config: Config, environ: Mapping[str, str]) -> tuple[str, bool]:
    """Return the name of the sandbox that would confine commands, and whether it protects files; starts a process.

    Raises NotConfigured if no command can run with these settings on this machine.
    """
    from hob.tools.sandbox.backends.detection import try_backend  # loads the sandbox's rules

    if (problem := command_problem(config)) is not None:
        raise NotConfigured(problem.reason)
    settings = config[SandboxSettings]
    found = try_backend(settings.backend, environ.get("PATH", ""), settings.image).backend
    return found.name, found.protects_files


def credential_problems(config: Config) -> Iterator[ConfigProblem]:
    """Yield the credentials that no command could use. Those that cannot be read are reported elsewhere."""
    from hob.tools.sandbox.network.credentials import check_credential  # loads the proxy's rules

    for name, each in config[SandboxSettings].credentials.items():
        key = f"sandbox.credentials.{name}.value"
        if each.value is None or each.value.reference.partition(":")[0] not in AT_HAND:
            continue
        with suppress(NotConfigured):
            each.value.reveal()
            try:
                check_credential(name, each)
            except NotConfigured as error:
                yield ConfigProblem(str(error), key, config.origin(key).place)


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
