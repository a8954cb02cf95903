"""The environment shared by all commands: variables, limits, caches, protected and forbidden places."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path

from hob.core.values import dataclass
from hob.tools.sandbox.environment_variables import job_environ, shared_environ
from hob.tools.sandbox.job import MIB, JobRoot, Limits, SandboxJob
from hob.tools.sandbox.roots import private_places, resolve_root
from hob.tools.sandbox.settings import SandboxSettings
from hob.tools.sandbox.toolchains import FoundTools, find_toolchains

# A command's HOME is empty and temporary. Files in a home control programs (~/.gitconfig, ~/.config/pip, ~/.local/bin),
# so what one command writes there must not affect the next one, which may serve another person or have network access.
# Only downloads are kept, separately.

# Cache folders and their places in a home. None of them is in PATH or read as configuration.
PACKAGES: Mapping[str, str] = {
    "cargo-registry": ".cargo/registry",
    "cargo-git": ".cargo/git",
    "go": "go/pkg/mod",
    "maven": ".m2/repository",
}
"""Caches without which nothing can be built offline."""
DOWNLOADS: Mapping[str, str] = {"pip": ".cache/pip", "uv": ".cache/uv", "npm": ".npm/_cacache"}
"""Caches that only save time, and that their tools cannot use read-only."""


def make_caches(folder: Path) -> None:
    """Create the cache folders. Raises OSError."""
    for name in (*PACKAGES, *DOWNLOADS):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)


def cache_links(keeps_downloads: bool) -> Iterator[tuple[str, str]]:
    """Yield the names of caches and their places in a home, for commands that may change them or only read them."""
    yield from PACKAGES.items()
    if keeps_downloads:
        yield from DOWNLOADS.items()


def empty_file(state: Path) -> Path:
    """Return the empty file that is shown in place of hidden ones. Raises OSError."""
    path = state / "empty"
    if not path.exists():
        path.touch(mode=0o444)
    return path


@dataclass(frozen=True, slots=True)
class Scratch:
    """Folders for a command without a file system of its own: its HOME and its /tmp."""

    home: Path
    temporary: Path


def make_scratch(state: Path, after: ExitStack) -> Scratch:
    """Create empty folders that are removed at the end. Raises OSError."""
    folder = Path(tempfile.mkdtemp(dir=state, prefix="scratch-"))
    after.callback(shutil.rmtree, folder, ignore_errors=True)
    scratch = Scratch(folder / "home", folder / "tmp")
    scratch.home.mkdir()
    scratch.temporary.mkdir()
    return scratch


# What the clients of Docker and Podman need to find their engine. Not visible to commands.
_ENGINE = (
    *("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
    *("CONTAINER_HOST", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
)


@dataclass(frozen=True, slots=True)
class SandboxEnvironment:
    """The properties of commands that do not change from one to the next.

    `state` is a folder of Hob's own that commands cannot change, `caches` holds their downloads. `forbidden` are
    folders that a root must neither contain nor be in. `protected` are names below a root that commands cannot change;
    one that ends in a slash is a folder, and is created if missing. `engine` is the environment of a container engine's
    client.
    """

    caches: Path
    state: Path
    limits: Limits = field(default_factory=Limits)
    environ: Mapping[str, str] = field(default_factory=dict)
    roots: tuple[JobRoot, ...] = ()
    tools: FoundTools = field(default_factory=FoundTools)
    forbidden: tuple[Path, ...] = ()
    protected: tuple[str, ...] = ()
    git_name: str = ""
    git_email: str = ""
    image: str = ""
    engine: Mapping[str, str] = field(default_factory=dict)

    def environ_of(self, job: SandboxJob, home: Path) -> dict[str, str]:
        """Return the complete environment of a command with this home. Raises ToolFailed."""
        return job_environ({**self.environ, **self.tools.environ}, job.environ, home, self.tools.path)


def sandbox_environment_of(
    settings: SandboxSettings,
    outer: Mapping[str, str],
    *,
    caches: Path,
    state: Path,
    owner: Path,
    forbidden: tuple[Path, ...] = (),
) -> SandboxEnvironment:
    """Return the environment described by the settings.

    `outer` is the owner's environment and `owner` the owner's home. `caches` and `state` are created if missing. Raises
    NotConfigured for a folder, toolchain or variable that commands cannot be given.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_caches(caches)
    roots = tuple(
        resolve_root(name, owner, writable=writable, forbidden=forbidden)
        for names, writable in ((settings.read, False), (settings.write, True))
        for name in names
    )
    return SandboxEnvironment(
        caches=caches.resolve(),
        state=state.resolve(),
        limits=limits_of(settings),
        environ=shared_environ(outer, settings.environment),
        roots=roots,
        tools=find_toolchains(settings.toolchains, owner),
        forbidden=(*private_places(owner), *forbidden),
        protected=tuple(settings.protected),
        git_name=settings.git_name,
        git_email=settings.git_email,
        image=settings.image,
        engine={name: outer[name] for name in _ENGINE if name in outer},
    )


def limits_of(settings: SandboxSettings) -> Limits:
    """Return the limits in bytes and seconds."""
    return Limits(
        memory=settings.memory_mib * MIB,
        scratch=settings.scratch_mib * MIB,
        cpu_seconds=settings.cpu_seconds,
        processes=settings.processes,
        file=settings.file_mib * MIB,
        written=settings.written_mib * MIB,
        open_files=settings.open_files,
        output=settings.output_mib * MIB,
    )


def git_config(name: str, email: str) -> str:
    """Return the sandbox's git configuration: the committer, and trust in folders that seem to have another owner from
    inside.
    """
    lines = ["[safe]", "\tdirectory = *", "[user]"]
    for key, value in (("name", name or "Hob"), ("email", email or "hob@localhost")):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        lines.append(f'\t{key} = "{quoted}"')
    return "\n".join(lines) + "\n"
