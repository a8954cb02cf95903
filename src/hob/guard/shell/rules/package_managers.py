"""Package installation (pip, npm, cargo, apt, …): the contacted hosts, and the foreign code that runs."""

import re
from collections.abc import Iterator

from hob.core.tools import Effect
from hob.guard.shell.arguments import after_options, operands, option_values
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding
from hob.guard.shell.rules.network import find_hosts

_INSTALLS = frozenset({Effect.COMMUNICATES, Effect.EXECUTES, Effect.WRITES})
_PYPI = ("pypi.org", "files.pythonhosted.org")
_NPM = ("registry.npmjs.org",)
_CRATES = ("index.crates.io", "static.crates.io")
_GO = ("proxy.golang.org", "sum.golang.org")
_DEBIAN = ("deb.debian.org", "archive.ubuntu.com")

# the actions with which each manager fetches and runs code, and the hosts it fetches from
_MANAGERS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pip": ("install download wheel", _PYPI),
    "pip3": ("install download wheel", _PYPI),
    "pipx": ("install run upgrade inject", _PYPI),
    "uv": ("add sync lock tool pip", _PYPI),
    "uvx": ("*", _PYPI),
    "poetry": ("install add update lock", _PYPI),
    "pdm": ("install add update lock sync", _PYPI),
    "pipenv": ("install sync update lock", _PYPI),
    "conda": ("install create update env", ("repo.anaconda.com", "conda.anaconda.org")),
    "mamba": ("install create update env", ("conda.anaconda.org",)),
    "npm": ("install i ci add update up create init exec x audit outdated view", _NPM),
    "npx": ("*", _NPM),
    "pnpm": ("install i add update up create dlx", _NPM),
    "yarn": ("install add upgrade create dlx up", ("registry.yarnpkg.com",)),
    "bun": ("install i add update create x", _NPM),
    "bunx": ("*", _NPM),
    "cargo": ("install add update fetch search", _CRATES),
    "go": ("install get", _GO),
    "gem": ("install update fetch", ("rubygems.org",)),
    "bundle": ("install update add", ("rubygems.org",)),
    "composer": ("install update require", ("packagist.org",)),
    "apt": ("install update upgrade full-upgrade dist-upgrade build-dep", _DEBIAN),
    "apt-get": ("install update upgrade dist-upgrade build-dep", _DEBIAN),
    "apk": ("add update upgrade", ("dl-cdn.alpinelinux.org",)),
    "dnf": ("install update upgrade", ()),
    "yum": ("install update", ()),
    "pacman": ("-S -Sy -Syu -Syyu", ()),
    "zypper": ("install in update", ()),
    "brew": ("install upgrade update tap", ("formulae.brew.sh", "ghcr.io")),
    "snap": ("install refresh", ("api.snapcraft.io",)),
    "flatpak": ("install update", ("dl.flathub.org",)),
    "nix-env": ("-i -iA --install", ("cache.nixos.org",)),
    "rustup": ("install update toolchain target component default", ("static.rust-lang.org",)),
    "nvm": ("install", ("nodejs.org",)),
    "pyenv": ("install", ("www.python.org",)),
    "docker": ("pull", ("registry-1.docker.io",)),
    "podman": ("pull", ("registry-1.docker.io",)),
    "helm": ("install upgrade repo", ()),
    "mvn": ("install package verify dependency:resolve", ("repo.maven.apache.org",)),
    "dotnet": ("restore add", ("api.nuget.org",)),
    "cpan": ("*", ("www.cpan.org",)),
    "cpanm": ("*", ("www.cpan.org",)),
    "luarocks": ("install", ("luarocks.org",)),
    "pre-commit": ("install autoupdate", ("github.com",)),
    "playwright": ("install", ("cdn.playwright.dev",)),
}
_REMOVES = frozenset({"purge", "remove", "autoremove", "-R", "-Rs", "-Rns", "erase", "del", "uninstall", "rm"})
_OF_SYSTEM = frozenset({"apt", "apt-get", "apk", "dnf", "yum", "pacman", "zypper", "dpkg", "rpm", "snap", "aptitude"})
_INDEXES = (
    "-i",
    "--index-url",
    "--extra-index-url",
    "--index",
    "-f",
    "--find-links",
    "--registry",
    "--source",
    "--default-index",
)


def manager(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge a package manager."""
    args = after_options(
        rule_input.args,
        ("-C", "--prefix", "-w", "--workspace", "--cwd", "--dir", "-F", "--filter", "--directory", "--project"),
    )
    action = args[0] if args else rule_input.args[0] if rule_input.args else ""
    words, registry = _MANAGERS.get(rule_input.name, ("", ()))
    if action in _REMOVES and rule_input.name in _OF_SYSTEM:
        yield rule_input.ask("system-change", "it removes software from this computer")
    elif action in words.split() or (words == "*" and action) or (rule_input.name == "yarn" and not rule_input.args):
        yield from _fetches(rule_input, registry)


def _fetches(rule_input: RuleInput, registry: tuple[str, ...]) -> Iterator[ShellFinding]:
    named = find_hosts(
        [
            re.sub(r"^git\+|^(?:[\w.-]+\s*@\s*)(?=\w+:)", "", arg)
            for arg in operands(rule_input.args, _INDEXES)
            if "/" in arg and ":" in arg
        ]
    )
    indexes = (
        find_hosts(list(option_values(rule_input.args, *_INDEXES)))
        if rule_input.name not in ("apt", "apt-get", "docker", "conda")
        else ()
    )
    hosts = tuple(dict.fromkeys((*named, *indexes, *(registry if not indexes else ()))))
    yield rule_input.note("installing", f"{rule_input.name} fetches and runs what others wrote", _INSTALLS, hosts)


def python_module(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `python -m pip install`."""
    args = rule_input.args
    if args[:2] in (("-m", "pip"), ("-m", "uv"), ("-m", "pipx")) and {"install", "download", "wheel"} & set(args[2:]):
        yield from _fetches(rule_input, _PYPI)


RULES: Rules = {
    **dict.fromkeys((*_MANAGERS, *_OF_SYSTEM), manager),
    **dict.fromkeys(
        ("python", "python3", "py", "python2", *(f"python3.{minor}" for minor in range(8, 16))), python_module
    ),
}
