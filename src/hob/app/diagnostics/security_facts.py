"""Collection of the security audit's facts from settings and files, and its one automatic fix.

It uses no network and opens no database, and no secret's value leaves this module.
"""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from hob.agent.budget.limits import SpendingSettings
from hob.app.daemon.command_check import find_command_backend
from hob.app.diagnostics.security_values import (
    SENSIBLE,
    BackendFacts,
    FileFacts,
    PermissionFix,
    PlaceFacts,
    SecretFacts,
    SecurityFacts,
)
from hob.config.loading import Config
from hob.core.errors import NotConfigured
from hob.core.settings import Secret, suggests_secret
from hob.gateway.auth.tokens import load_token
from hob.gateway.settings import GatewaySettings
from hob.gateway.webhooks.settings import Webhooks
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.screening.masking.known_secrets import AT_HAND, is_secret_name
from hob.guard.screening.masking.mask import is_maskable
from hob.guard.screening.model_calls.settings import PromptGuardSettings, SanitizerSettings
from hob.guard.screening.scanner.settings import ScannerSettings
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.providers.http.addresses import is_loopback, is_private
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings
from hob.store.audit.audit import HEAD_FILE
from hob.store.database.database import NAME
from hob.tools.sandbox.settings import SandboxSettings
from hob.workspace.bootstrap import NAMES
from hob.workspace.settings import WorkspaceSettings

S = TypeVar("S")
_HEADERS = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "cookie"})
_DAY = 86_400.0
_MAX_FILES = 100_000  # files examined in the workspace


def gather(config: Config, environ: Mapping[str, str]) -> SecurityFacts:
    """Gather the facts for all checks; unreadable ones are left out."""
    secrets, sandbox = dict(config.secrets()), _sandbox(config, environ)
    plain_http, plain_key = _plain_servers(config, environ)
    return SecurityFacts(
        files=gather_files(config, environ, secrets),
        secrets=_secrets(config, environ, secrets),
        backend=_backend(config, environ),
        plain_http=plain_http,
        plain_key=plain_key,
        gateway=config[GatewaySettings],
        webhooks=_section(config, Webhooks),
        spending=config[SpendingSettings],
        prompt_guard=config[PromptGuardSettings],
        sanitizer=config[SanitizerSettings],
        sandbox=sandbox,
        policy=_section(config, PolicySettings),
        approvals=_section(config, ApprovalSettings),
        admission=_section(config, AdmissionSettings),
        scanner=_section(config, ScannerSettings),
        limits=_limits(config),
    )


def _section(config: Config, section: type[S]) -> S:
    """Return the settings of this class, or its defaults if this Hob does not load them."""
    return config[section] if section in config.sections.values() else section()


def _limits(config: Config) -> Mapping[str, float]:
    found: dict[str, float | None] = {}
    for key in SENSIBLE:
        section, _, path = key.partition(".")
        if section in config.sections:
            found[key] = attrgetter(path)(config[config.sections[section]])
    return {key: value for key, value in found.items() if value is not None}


# Files


def gather_files(config: Config, environ: Mapping[str, str], secrets: Mapping[str, Secret]) -> FileFacts:
    """Gather the locations and permissions of files."""
    home, settings = config.home, config[WorkspaceSettings]
    workspace = settings.path
    backups = sorted((home / "backups").glob("*.db")) if (home / "backups").is_dir() else []
    places = {name: seen for name, path in _places(config, secrets, backups) if (seen := _stat_place(path)) is not None}
    newest = max((file.stat().st_mtime for file in backups), default=None)
    days = None if newest is None else (time.time() - newest) / _DAY
    return FileFacts(
        places=places,
        home=os.path.realpath(home),
        workspace=os.path.realpath(workspace),
        user_home=os.path.realpath(environ.get("HOME") or Path.home()),
        root=os.geteuid() == 0,
        parent_open=_is_open(home.parent),
        setuid=tuple(dict.fromkeys(_find_setuid(workspace, settings.work, *_sandbox(config, environ).write))),
        repository=next((str(up) for up in home.parents if (up / ".git").exists()), ""),
        backup_days=days if (home / NAME).exists() else 0.0,
    )


def _places(config: Config, secrets: Mapping[str, Secret], backups: list[Path]) -> Iterator[tuple[str, Path]]:
    home = config.home
    yield from (("home", home), ("config", config.path), ("workspace", config[WorkspaceSettings].path))
    yield from (("secrets", home / "secrets"), ("backups", home / "backups"), ("logs", home / "logs"))
    yield from (("blobs", home / "blobs"), ("socket", home / "hob.sock"), ("head", home / HEAD_FILE))
    yield from ((f"database.{side}", home / f"{NAME}{side}") for side in ("", "-wal", "-shm"))
    yield from ((f"backup.{number}", file) for number, file in enumerate(backups))
    yield from ((f"identity.{name}", config[WorkspaceSettings].path / name) for name in NAMES)
    yield from ((f"log.{number}", file) for number, file in enumerate(sorted((home / "logs").glob("*"))))
    if (home / "secrets").is_dir():
        yield from ((f"secret.{number}", file) for number, file in enumerate(sorted((home / "secrets").iterdir())))
    files = sorted(secret.reference[5:] for secret in secrets.values() if secret.reference.startswith("file:"))
    yield from ((f"reference.{number}", Path(file)) for number, file in enumerate(files))


def _stat_place(path: Path) -> PlaceFacts | None:
    try:
        found = path.lstat()
    except OSError:
        return None
    mine = found.st_uid in {os.geteuid(), 0}
    return PlaceFacts(str(path), stat.S_IMODE(found.st_mode), mine, stat.S_ISLNK(found.st_mode))


def _find_setuid(*folders: Path | str) -> Iterator[str]:
    """Yield files with setuid or setgid bits, up to a maximum of files examined."""
    files = (Path(at, name) for folder in folders for at, _, names in os.walk(folder) for name in names)
    for file in islice(files, _MAX_FILES):
        with suppress(OSError):
            found = file.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_mode & (stat.S_ISUID | stat.S_ISGID):
                yield str(file)


def _is_open(folder: Path) -> bool:
    """Return whether others may rename entries of this folder."""
    seen = _stat_place(folder)
    return seen is not None and bool(seen.mode & 0o022) and not seen.mode & stat.S_ISVTX


def tighten(fix: PermissionFix) -> bool:
    """Remove permission bits if the file still exists, is ours and is not a link. Return whether that was done."""
    try:
        handle = os.open(fix.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:  # sockets cannot be opened
        return _tighten_by_name(fix)
    try:
        mode = stat.S_IMODE(os.fstat(handle).st_mode)
        os.fchmod(handle, mode & ~fix.remove)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _tighten_by_name(fix: PermissionFix) -> bool:
    path = Path(fix.path)
    try:
        found = path.lstat()
        if not stat.S_ISSOCK(found.st_mode):
            return False
        path.chmod(stat.S_IMODE(found.st_mode) & ~fix.remove)
    except OSError:
        return False
    return True


# Settings


def _secrets(config: Config, environ: Mapping[str, str], secrets: Mapping[str, Secret]) -> SecretFacts:
    values: dict[str, str] = {}
    unreadable = []
    for name, secret in secrets.items():
        table, _, key = name.rpartition(".")
        if table.endswith(".env") and not secret.reference and not suggests_secret(key):
            continue  # a variable of a program, such as a path
        if secret.reference.partition(":")[0] in AT_HAND:
            try:
                values[name] = secret.reveal()
            except NotConfigured:
                unreadable.append(name)
    shared: dict[str, list[str]] = {}
    for name, value in values.items():
        shared.setdefault(value, []).append(name)
    headers = (
        f"model.providers.{id}.headers.{header}"
        for id, provider in config[ModelSettings].providers.items()
        for header in provider.headers
        if header.lower() in _HEADERS
    )
    found = SecretFacts(
        plain=tuple(note.key for note in config.notes if note.key),
        short=tuple(name for name, value in values.items() if not is_maskable(value)),
        unreadable=tuple(unreadable),
        same=tuple(tuple(names) for names in shared.values() if len(names) > 1),
        in_environment=tuple(sorted(name for name in environ if is_secret_name(name) and not name.startswith("HOB_"))),
        in_headers=tuple(headers),
    )
    token = _token(config)
    if token is None:  # the first start makes a strong one
        return found
    return replace(found, token_length=len(token), token_signs=len(set(token)))


def _token(config: Config) -> str | None:
    own = config[GatewaySettings].auth_token
    try:
        return own.reveal() if own else load_token(config.home)
    except NotConfigured:
        return None


def _plain_servers(config: Config, environ: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the addresses of remote model servers without TLS, and of nearby ones that get a key so."""
    connected = ModelChoice(config[ModelSettings], environ, is_reachable=lambda _: False).connected()
    plain = [each for each in connected if each.base_url.startswith("http://") and not is_loopback(each.base_url)]
    near = {_without_login(each.base_url): any(each.keys) for each in plain if is_private(each.base_url)}
    remote = sorted({_without_login(each.base_url) for each in plain}.difference(near))
    return tuple(remote), tuple(sorted(url for url, has_key in near.items() if has_key))


def _without_login(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def _sandbox(config: Config, environ: Mapping[str, str]) -> SandboxSettings:
    """Return the sandbox's settings, with whole paths."""
    settings = _section(config, SandboxSettings)
    read, write = ([_expand_home(path, environ) for path in paths] for paths in (settings.read, settings.write))
    return replace(settings, read=read, write=write)


def _expand_home(path: str, environ: Mapping[str, str]) -> str:
    own = environ.get("HOME", "")
    return own + path[1:] if own and (path == "~" or path.startswith("~/")) else path


def _backend(config: Config, environ: Mapping[str, str]) -> BackendFacts:
    try:
        return BackendFacts(*find_command_backend(config, environ))
    except NotConfigured as error:
        return BackendFacts("", False, str(error))
