"""The subject of the checks: a home, its settings, its owner and its database, each read once on first use."""

import os
import shutil
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from hob.app.daemon.unix_http import ConnectionLost, NotRunning, call, text_of
from hob.app.diagnostics.security_facts import gather
from hob.app.diagnostics.security_values import SecurityFacts
from hob.app.home import holder_of, socket_of
from hob.app.service.detection import find_service_manager
from hob.app.service.service_manager import ServiceManager
from hob.app.settings.sections import load_settings
from hob.config.loading import Config
from hob.config.problems import ConfigInvalid, ConfigProblem
from hob.core.clock import Clock, SystemClock
from hob.core.errors import HobError, NotFound, StoreError
from hob.core.values import dataclass
from hob.providers.routing.choice import ModelChoice
from hob.providers.settings import ModelSettings
from hob.store.backup.inspection import Examined, examine
from hob.store.database.database import NAME

ANSWER_SECONDS = 5.0
"""Seconds the owner of a home may take to report its status."""


class CheckSkipped(HobError):
    """The check cannot be made. The message says why."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that owns the home. `status` is its own report; if there is none, `problem` says why."""

    name: str
    status: Mapping[str, Any] | None
    problem: str = ""

    @property
    def daemon(self) -> bool:
        """Whether it is a daemon, unlike a command or a chat."""
        return self.name.startswith("hob serve")


class DiagnosticContext:
    """One home and everything that belongs to it. Reading it changes nothing."""

    def __init__(
        self, home: Path, environ: Mapping[str, str], *, online: bool = True, clock: Clock | None = None
    ) -> None:
        self.home = home
        self.environ = environ
        self.clock = clock or SystemClock()
        self._online = online

    @property
    def now(self) -> float:
        """This machine's time in Unix seconds."""
        return self.clock.now().timestamp()

    @cached_property
    def wrong_settings(self) -> tuple[ConfigProblem, ...]:
        """The problems that prevent the settings from loading."""
        return self._read[1]

    @property
    def config(self) -> Config:
        """The settings. Raises CheckSkipped if they are invalid."""
        config = self._read[0]
        if config is None:
            raise CheckSkipped("the settings are wrong")
        return config

    @cached_property
    def _read(self) -> tuple[Config | None, tuple[ConfigProblem, ...]]:
        try:
            return load_settings(self.home, self.environ), ()
        except ConfigInvalid as invalid:
            return None, invalid.problems

    @cached_property
    def security(self) -> SecurityFacts:
        """The facts of the security audit. Raises CheckSkipped if the settings are invalid."""
        return gather(self.config, self.environ)

    def with_facts(self, facts: SecurityFacts) -> "DiagnosticContext":
        """Return a context of the same home with these security facts."""
        other = DiagnosticContext(self.home, self.environ, online=self._online, clock=self.clock)
        other.security = facts
        return other

    @cached_property
    def choice(self) -> ModelChoice:
        """The available models. Raises CheckSkipped if the settings are invalid."""
        return ModelChoice(self.config[ModelSettings], self.environ)

    @cached_property
    def owner(self) -> Owner | None:
        """The current owner of the home, or None."""
        name = holder_of(self.home)
        if not name:
            return None
        try:
            answer = call(socket_of(self.home), "GET", "/status", timeout=ANSWER_SECONDS)
        except (NotRunning, ConnectionLost):
            return Owner(name, None)
        if "error" in answer.body:
            return Owner(name, None, text_of(answer.body["error"]))
        return Owner(name, answer.body)

    @property
    def daemon(self) -> Mapping[str, Any] | None:
        """The daemon's status, whose environment may differ from this one; None without a daemon."""
        return self.owner.status if self.owner is not None and self.owner.daemon else None

    def status(self) -> Mapping[str, Any]:
        """Return the owner's status. Raises CheckSkipped if there is none."""
        if self.owner is None or self.owner.status is None:
            raise CheckSkipped("Hob is not running")
        return self.owner.status

    def need_home(self) -> Path:
        """Return the home. Raises CheckSkipped if there is none."""
        if not self.home.is_dir():
            raise CheckSkipped("there is no home yet")
        return self.home

    @property
    def database(self) -> Path:
        """The database file. Raises CheckSkipped if there is none."""
        file = self.need_home() / NAME
        if not file.is_file():
            raise CheckSkipped("there is no database yet")
        return file

    @property
    def examined(self) -> Examined:
        """The quick examination of the database. Raises CheckSkipped if it failed, which another check reports."""
        result = self.examination
        if isinstance(result, HobError):
            raise CheckSkipped("the database cannot be read")
        return result

    @cached_property
    def examination(self) -> Examined | HobError:
        """The quick examination of the database, or its error."""
        try:
            return examine(self.database.parent, owned=self.owner is not None)
        except (StoreError, NotFound) as error:
            return error

    @cached_property
    def service_manager(self) -> ServiceManager:
        """The machine's service manager."""
        return find_service_manager(self.environ, self.home)

    def may_write(self, path: Path) -> bool:
        """Return whether this path may be written or created."""
        place = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        return os.access(place, os.W_OK) and not os.statvfs(place).f_flag & os.ST_RDONLY

    def find_program(self, name: str) -> Path | None:
        """Return a program's path in this environment, or None."""
        found = shutil.which(name, path=self.environ.get("PATH", os.defpath))
        return Path(found) if found else None

    def need_network(self) -> None:
        """Raise CheckSkipped if the network may not be used."""
        if not self._online:
            raise CheckSkipped("--offline leaves them out")
