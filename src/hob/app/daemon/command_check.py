"""Checks whether commands could run with these settings, and in which sandbox."""

from collections.abc import Mapping
from pathlib import Path

from hob.config.loading import Config
from hob.config.problems import ConfigProblem
from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
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
