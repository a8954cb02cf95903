"""Servers distributed as packages: installed once at a pinned version, then started without network access.

`npx` and `uvx` would fetch the newest version at every start.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import distributions
from pathlib import Path

from hob.core.errors import NotConfigured, ToolFailed
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.tools.mcp.accepted import FOLDER, PINNED, installed_at
from hob.tools.mcp.connector import job_of
from hob.tools.mcp.registries import Registries, registries_of
from hob.tools.mcp.server_environment import ServerEnvironment
from hob.tools.mcp.settings import McpServer
from hob.tools.sandbox.backends.bubblewrap import Bubblewrap
from hob.tools.sandbox.backends.detection import find_backend
from hob.tools.sandbox.job import EndReason, JobFinished, JobRoot
from hob.tools.sandbox.running_command import run
from hob.tools.sandbox.sandbox_environment import limits_of

_SECONDS = 600.0
_NPM = re.compile(r"(?P<name>(?:@[a-z0-9~.-][\w.~-]*/)?[a-z0-9~-][\w.~-]*)(?:@(?P<version>[\w.+-]+))?")
_PYPI = re.compile(r"(?P<name>[A-Za-z0-9][\w.-]*)(?:\[[\w,-]+\])?(?:(?:==|@)(?P<version>[\w.+!-]+))?")
_MISSING = ("code E404", "code ETARGET", "No matching distribution found")
_NOISE = ("A complete log", "[notice]", "WARNING:")
_EXACT = re.compile(r"\d+(\.\d+)+[\w.+-]*")


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """A package to install. An empty `version` stands for the newest one, which is then pinned."""

    kind: str
    package: str
    version: str
    program: str
    arguments: tuple[str, ...]

    def source(self, environ: Mapping[str, str]) -> str:
        """Name the registries for the owner. Raises NotConfigured."""
        named = registries_of(self.kind, environ, Path.home()).named
        return ("npm" if self.kind == "npm" else "PyPI") + (f" ({', '.join(named)})" if named else "")

    @property
    def spelled(self) -> str:
        """The package in the notation of its registry."""
        mark = "@" if self.kind == "npm" else "=="
        return f"{self.package}{mark}{self.version}" if self.version else self.package


def plan_of(command: Sequence[str]) -> InstallPlan | None:
    """Parse an `npx` or `uvx` command. Returns None for other commands. Raises NotConfigured if it is ambiguous."""
    program, *words = command or ("",)
    kind = {"npx": "npm", "uvx": "pypi"}.get(Path(program).name)
    if Path(program).name == "uv" and words[:2] == ["tool", "run"]:
        kind, words = "pypi", words[2:]
    if kind is None:
        return None
    package = ""
    while words and words[0].startswith("-"):
        option = words.pop(0)
        name, _, value = option.partition("=")
        if name in ("-p", "--package", "--from"):
            package = value or (words.pop(0) if words else "")
        elif option not in ("-y", "--yes", "-q", "--quiet"):
            raise NotConfigured(
                translatable(
                    "Hob does not know what {option} of {program} means; it takes -y, -q and --package (uvx: --from), "
                    "then the package, then what the server is given",
                    option=option,
                    program=program,
                )
            )
    if not words:
        raise NotConfigured(
            translatable("{program} names no package; write it behind: {program} PACKAGE", program=program)
        )
    named = package or words[0]
    found = (_NPM if kind == "npm" else _PYPI).fullmatch(named)
    if found is None:
        raise NotConfigured(
            translatable(
                "{package} is not a package name; write one, with a version if you like (NAME@1.2.3)",
                package=repr(named),
            )
        )
    version = found["version"] or ""
    version = version if _EXACT.fullmatch(version) else ""
    return InstallPlan(kind, found["name"], version, words[0] if package else "", tuple(words[1:]))


async def install(name: str, plan: InstallPlan, server: McpServer, server_environment: ServerEnvironment) -> McpServer:
    """Install a package into the server's own folder, inside the sandbox; return the server's new settings.

    Install scripts of npm packages do not run. Registries and certificates are those of the owner's npm or pip. Raises
    NotConfigured and ToolFailed.
    """
    registries = registries_of(plan.kind, server_environment.environ, Path.home())
    folder = installed_at(server_environment.home, name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    try:
        if plan.kind == "npm":
            options = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--save-exact")
            # short retries, because a person is waiting
            waits = ("--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=10000")
            npm = ("npm", "install", *options, *waits, "--prefix", str(folder), plan.spelled)
            await _run_installer(name, server_environment, folder, npm, registries)
            program = _find_npm_program(folder, plan)
        else:
            await _run_installer(name, server_environment, folder, ("python3", "-m", "venv", str(folder)), registries)
            pip = (str(folder / "bin/python"), "-m", "pip", "install", "-q", "--no-input", plan.spelled)
            await _run_installer(name, server_environment, folder, pip, registries)
            program = folder / "bin" / (plan.program or plan.package)
            if not program.exists():
                raise ToolFailed(f"{plan.spelled} has no program {program.name}")
        pinned = replace(plan, version=_installed_version(folder, plan))
        (folder / PINNED).write_text(" ".join((pinned.spelled, *plan.arguments)), "utf-8")
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return replace(server, command=[str(program), *plan.arguments])


def _installed_version(folder: Path, plan: InstallPlan) -> str:
    if plan.kind == "npm":
        version: str = json.loads((folder / "node_modules" / plan.package / "package.json").read_bytes())["version"]
        return version
    found = distributions(name=plan.package, path=[str(each) for each in folder.glob("lib/python*/site-packages")])
    return next((each.version for each in found), plan.version)


def _find_npm_program(folder: Path, plan: InstallPlan) -> Path:
    programs = folder / "node_modules" / ".bin"
    there = sorted(each.name for each in programs.iterdir()) if programs.is_dir() else []
    last = plan.package.rpartition("/")[2]
    declared = json.loads((folder / "node_modules" / plan.package / "package.json").read_bytes()).get("bin", {})
    own = [last] if isinstance(declared, str) else list(declared)
    name = plan.program or (last if last in own else next(iter(own), ""))
    if name not in there:
        raise ToolFailed(f"{plan.spelled} has no program {name}")
    return programs / name


async def _run_installer(
    name: str, server_environment: ServerEnvironment, folder: Path, argv: tuple[str, ...], registries: Registries
) -> JobFinished:
    hosts = sorted({host for host, _ in registries.hosts})
    environment, job = job_of(name, McpServer(command=list(argv), hosts=hosts), server_environment)
    found = find_backend(
        server_environment.sandbox.backend, environment, server_environment.environ.get("PATH", "")
    ).backend
    if not found.is_sandbox:  # without a sandbox, host rules cannot be enforced
        job = replace(job, hosts=())
    if isinstance(found, Bubblewrap):
        found = replace(found, internet=replace(found.internet, local=registries.hosts))
    with _registry_files(name, server_environment) as told:
        roots = (*(each for each in job.roots if each.path != folder), JobRoot(folder.resolve(), True), JobRoot(told))
        job = replace(job, roots=roots, environ={**job.environ, **_registry_environ(registries, told)})
        done = await run(
            found, job, server_environment.clock, limits=limits_of(server_environment.sandbox), seconds=_SECONDS
        )
    if done.reason is not EndReason.EXITED or done.status != 0:
        raise ToolFailed(install_problem(argv, done.output.decode("utf-8", "replace") or done.reason))
    return done


def install_problem(argv: Sequence[str], said: str) -> str:
    """Explain from npm's or pip's output why the installation failed and what to do."""
    package = argv[-1]
    if any(each in said for each in _MISSING):
        return translatable("the registry has no package {package}; check its name and version", package=package)
    lines = [re.sub(r"^(npm (error|ERR!)|ERROR:)\s*", "", each).strip() for each in said.splitlines()]
    reason = " ".join(each for each in lines if each and not each.startswith(_NOISE))[:400]
    return translatable(
        "{package} could not be installed: {reason}. Check the name and the connection, then add it again",
        package=package,
        reason=reason,
    )


@contextmanager
def _registry_files(name: str, server_environment: ServerEnvironment) -> Iterator[Path]:
    """Provide a folder for files that may contain logins, and remove it afterwards.

    A folder left by a Hob that was killed is removed by the next installation, or with the server.
    """
    folder = server_environment.home.resolve() / FOLDER / "installing" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _registry_environ(registries: Registries, folder: Path) -> Mapping[str, str]:
    """Write the registry files into this folder and return the variables that point to them."""
    (folder / "npmrc").write_text(registries.npmrc, "utf-8")
    (folder / "ca.pem").write_bytes(registries.certificates)
    trusting = dict.fromkeys(("NODE_EXTRA_CA_CERTS", "PIP_CERT"), str(folder / "ca.pem"))
    return {
        "npm_config_userconfig": str(folder / "npmrc"),
        **(trusting if registries.certificates else {}),
        **registries.environ,
    }
