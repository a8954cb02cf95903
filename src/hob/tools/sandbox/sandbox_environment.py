"""What all commands of one Hob share: their environment, their limits, their caches, and what they must never see."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import field
from pathlib import Path

from hob.core.values import dataclass
from hob.tools.sandbox.environment_variables import job_environ, shared_environ
from hob.tools.sandbox.job import MIB, JobRoot, Limits, SandboxJob
from hob.tools.sandbox.roots import checked_root, private_places
from hob.tools.sandbox.settings import SandboxSettings
from hob.tools.sandbox.toolchains import FoundTools, find_toolchains

# The HOME of a command: empty, and gone with it.
#
# What lies in a home steers programs (~/.gitconfig, ~/.config/pip, ~/.local/bin), so what one command writes there must
# not meet the next, which may be another person's, or may have network. Only what was downloaded is kept, and apart.

# By folder of the caches: where it stands in a home. None of them is in PATH, or read as configuration.
PACKAGES: Mapping[str, str] = {
    "cargo-registry": ".cargo/registry",
    "cargo-git": ".cargo/git",
    "go": "go/pkg/mod",
    "maven": ".m2/repository",
}
"""Without these nothing can be built when there is no network."""
DOWNLOADS: Mapping[str, str] = {"pip": ".cache/pip", "uv": ".cache/uv", "npm": ".npm/_cacache"}
"""These save time; their tools cannot do with a cache that is read-only."""


def make_caches(folder: Path) -> None:
    """Make the folders of the caches. Raises OSError."""
    for name in (*PACKAGES, *DOWNLOADS):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)


def cache_links(keeps: bool) -> Iterator[tuple[str, str]]:
    """Names of caches and their places in a home, of a command that may change them, or may only read."""
    yield from PACKAGES.items()
    if keeps:
        yield from DOWNLOADS.items()


def empty_file(state: Path) -> Path:
    """What stands in the place of a file that a command shall not read. Raises OSError."""
    path = state / "empty"
    if not path.exists():
        path.touch(mode=0o444)
    return path


@dataclass(frozen=True, slots=True)
class Scratch:
    """Folders of a command without a file system of its own: its HOME, and what is its /tmp."""

    home: Path
    temporary: Path


def make_scratch(state: Path, after: ExitStack) -> Scratch:
    """Empty ones, which are removed at the end. Raises OSError."""
    folder = Path(tempfile.mkdtemp(dir=state, prefix="scratch-"))
    after.callback(shutil.rmtree, folder, ignore_errors=True)
    scratch = Scratch(folder / "home", folder / "tmp")
    scratch.home.mkdir()
    scratch.temporary.mkdir()
    return scratch


# What the clients of Docker and Podman need to find their engine; commands do not see it.
_ENGINE = (
    *("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
    *("CONTAINER_HOST", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
)


@dataclass(frozen=True, slots=True)
class SandboxEnvironment:
    """Everything about commands that does not change from one to the next.

    `state` is a folder of Hob's own that no command can change, `caches` holds what commands downloaded (see `homes`).
    `forbidden` are folders that no root may hold or lie in. `protected` are names below a root that a command may not
    change; one that ends in a slash is a folder, and is made where it is missing. `engine` is the environment of a
    container engine's client.
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
        """The whole environment of a command that runs here and has this home. Raises ToolFailed."""
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
    """The surroundings that the settings ask for.

    `outer` is the owner's environment and `owner` the owner's home; `caches` and `state` are made where missing.
    Raises NotConfigured for a folder, a toolchain or a variable that commands cannot be given.
    """
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_caches(caches)
    roots = tuple(
        checked_root(name, owner, writable=writable, forbidden=forbidden)
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
    """The limits in bytes and seconds."""
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
    """The git configuration of the sandbox: who commits, and trust in folders whose owner looks foreign from inside."""
    lines = ["[safe]", "\tdirectory = *", "[user]"]
    for key, value in (("name", name or "Hob"), ("email", email or "hob@localhost")):
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
        lines.append(f'\t{key} = "{quoted}"')
    return "\n".join(lines) + "\n"
