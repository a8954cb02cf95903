"""Creation of connections to the servers of a home. Slow to import, so it is loaded on first use."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.tools.mcp.accepted import FOLDER, installed_at
from hob.tools.mcp.connection import Connection, Transport
from hob.tools.mcp.http import open_http
from hob.tools.mcp.oauth import auth_of
from hob.tools.mcp.sampling import Sampling
from hob.tools.mcp.server_environment import ServerEnvironment
from hob.tools.mcp.settings import McpServer
from hob.tools.mcp.stdio import StderrTail, open_streams
from hob.tools.sandbox.backends.bubblewrap import Bubblewrap
from hob.tools.sandbox.backends.detection import find_backend
from hob.tools.sandbox.backends.landlock import Landlock
from hob.tools.sandbox.environment_variables import search_path
from hob.tools.sandbox.job import JobRoot, SandboxJob
from hob.tools.sandbox.launcher.launcher import Backend
from hob.tools.sandbox.network.credentials import CredentialStore
from hob.tools.sandbox.roots import resolve_root
from hob.tools.sandbox.running_command import OutputCallbacks, RunningCommand, start
from hob.tools.sandbox.sandbox_environment import (
    SandboxEnvironment,
    limits_of,
    sandbox_environment_of,
)

DATA = "{data}"
"""Placeholder, in a server's command and environment, for its own writable folder."""

_STEERING = ("LD_", "DYLD_", "HOB_", "BASH_")
_NEVER = frozenset({"PATH", "HOME", "USER", "SHELL", "TMPDIR", "ENV"})


def connection_to(
    name: str, server: McpServer, server_environment: ServerEnvironment, protocol: str = ""
) -> Connection:
    """Create a connection to a server, which opens on first use. Raises NotConfigured."""
    words = StderrTail()
    if server.url:
        headers = {key: value.reveal() for key, value in server.headers.items()}
        given = any(key.lower() == "authorization" for key in headers)
        auth = None if given else auth_of(name, server, server_environment.home, server_environment.login)
        way = Transport(partial(open_http, server.url, headers, auth), words)
    elif server.command:
        way = Transport(partial(open_streams, partial(start_program, name, server, server_environment), words), words)
    else:
        raise NotConfigured(translatable("mcp.{name} has neither a command nor a url", name=name))
    patient = server_environment.login is not None
    sampling = Sampling(name, server.sampling, server_environment.sample) if server.sampling else None
    return Connection(
        name,
        way,
        server_environment.clock,
        seconds=server.timeout,
        protocol=protocol,
        patient=patient,
        sampling=sampling,
    )


async def start_program(
    name: str, server: McpServer, server_environment: ServerEnvironment, callbacks: OutputCallbacks
) -> RunningCommand:
    """Start a server's program in the sandbox, with its own folder and the configured ones. Raises NotConfigured,
    ToolFailed.
    """
    environment, job = job_of(name, server, server_environment)
    found = find_backend(server_environment.sandbox.backend, environment, server_environment.environ.get("PATH", ""))
    _check_program(job.argv[0], environment, found.backend)
    limits = replace(limits_of(server_environment.sandbox), output=1 << 62)
    callbacks = replace(callbacks, network=partial(server_environment.decided, name))
    return await start(
        found.backend,
        job,
        server_environment.clock,
        limits=limits,
        interactive=True,
        callbacks=callbacks,
        records=server_environment.records,
    )


def _check_program(program: str, environment: SandboxEnvironment, backend: Backend) -> None:
    """Raise NotConfigured if the sandbox lacks such a program. Container images are not inspected."""
    path = ":".join(search_path(environment.tools.path))
    there = "/" in program or shutil.which(program, path=path) is not None
    if not there and isinstance(backend, Bubblewrap | Landlock):
        raise NotConfigured(
            translatable(
                "there is no program {program} where the sandbox looks ({path}); name it by its whole path, and its "
                "folder with --read",
                program=repr(program),
                path=path,
            )
        )


def job_of(
    name: str, server: McpServer, server_environment: ServerEnvironment
) -> tuple[SandboxEnvironment, SandboxJob]:
    """Build the sandbox environment and job of a server's program. Raises NotConfigured."""
    folder, owner = server_environment.home / FOLDER, Path.home()
    state = folder / "sandbox" / name
    environment = sandbox_environment_of(
        server_environment.sandbox,
        server_environment.environ,
        caches=folder / "caches",
        state=state / "state",
        owner=owner,
    )
    own = (folder / "data" / name).resolve()
    own.mkdir(mode=0o700, parents=True, exist_ok=True)
    given = {key: value.reveal().replace(DATA, str(own)) for key, value in server.env.items()}
    if wrong := [key for key in given if key in _NEVER or key.startswith(_STEERING)]:
        raise NotConfigured(translatable("mcp.{name}.env cannot set {key}", name=name, key=wrong[0]))
    environment = replace(environment, environ={**environment.environ, **given}, roots=(), protected=())
    roots = [JobRoot(own, writable=True)]
    if (installed := installed_at(server_environment.home, name)).is_dir():
        roots.append(JobRoot(installed.resolve()))
    for names, writable in ((server.read, False), (server.write, True)):
        roots += [
            resolve_root(each, owner, writable=writable, forbidden=(server_environment.home.resolve(),))
            for each in names
        ]
    credentials = CredentialStore(server_environment.sandbox.credentials, server_environment.clock)
    return environment, SandboxJob(
        tuple(word.replace(DATA, str(own)) for word in server.command), own, tuple(roots), tuple(server.hosts),
        credentials=credentials.of(f"mcp.{name}", server.hosts),
    )  # fmt: skip
