"""What the checks look at: a home, its settings, its owner and its database, each read once and when first asked."""

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
from hob.app.service.detection import find_keeper
from hob.app.service.service_manager import ServiceManager
from hob.app.settings.sections import load_settings
from hob.config.loading import Config
from hob.config.problems import ConfigInvalid, ConfigProblem
from hob.core.clock import Clock, SystemClock
from hob.core.errors import HobError, NotFound, StoreError
from hob.core.values import dataclass
from hob.providers.routing.choice import Choice
from hob.providers.settings import ModelSettings
from hob.store.backup.inspection import Examined, examine
from hob.store.database.database import NAME

ANSWER_SECONDS = 5.0
"""How long the owner of a home may take to say how it is."""


class CheckSkipped(HobError):
    """This could not be looked at. The message says why."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Anyone who owns the home. `status` is what it tells of itself, `problem` why it tells nothing, if it answers."""

    name: str
    status: Mapping[str, Any] | None
    problem: str = ""

    @property
    def daemon(self) -> bool:
        """Whether it stays, unlike a command or a chat."""
        return self.name.startswith("hob serve")


class DiagnosticContext:
    """One home and what belongs to it. Looking changes nothing."""

    def __init__(
        self, home: Path, environ: Mapping[str, str], *, online: bool = True, clock: Clock | None = None
    ) -> None:
        self.home = home
        self.environ = environ
        self.clock = clock or SystemClock()
        self._online = online

    @property
    def now(self) -> float:
        """Seconds since 1970, as this machine has it."""
        return self.clock.now().timestamp()

    @cached_property
    def wrong_settings(self) -> tuple[ConfigProblem, ...]:
        """What keeps the settings from being read."""
        return self._read[1]

    @property
    def config(self) -> Config:
        """The settings. Raises CheckSkipped where they are wrong."""
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
        """What the security audit looks at. Raises CheckSkipped where the settings are wrong."""
        return gather(self.config, self.environ)

    def with_facts(self, facts: SecurityFacts) -> "DiagnosticContext":
        """The same home, about which the security audit knows no more than this."""
        other = DiagnosticContext(self.home, self.environ, online=self._online, clock=self.clock)
        other.security = facts
        return other

    @cached_property
    def choice(self) -> Choice:
        """What there is to ask. Raises CheckSkipped where the settings are wrong."""
        return Choice(self.config[ModelSettings], self.environ)

    @cached_property
    def owner(self) -> Owner | None:
        """Who owns the home now, if anybody does."""
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
        """What the daemon tells of itself, which may have another environment than this one; None where none does."""
        return self.owner.status if self.owner is not None and self.owner.daemon else None

    def status(self) -> Mapping[str, Any]:
        """What the owner tells of itself. Raises CheckSkipped where no one does."""
        if self.owner is None or self.owner.status is None:
            raise CheckSkipped("Hob is not running")
        return self.owner.status

    def need_home(self) -> Path:
        """The home, which is there. Raises CheckSkipped."""
        if not self.home.is_dir():
            raise CheckSkipped("there is no home yet")
        return self.home

    @property
    def database(self) -> Path:
        """The database, which is there. Raises CheckSkipped."""
        file = self.need_home() / NAME
        if not file.is_file():
            raise CheckSkipped("there is no database yet")
        return file

    @property
    def examined(self) -> Examined:
        """A quick look at the database. Raises CheckSkipped where that is not possible, which another check tells."""
        result = self.examination
        if isinstance(result, HobError):
            raise CheckSkipped("the database cannot be read")
        return result

    @cached_property
    def examination(self) -> Examined | HobError:
        """The look, or the error instead of it."""
        try:
            return examine(self.database.parent, owned=self.owner is not None)
        except (StoreError, NotFound) as error:
            return error

    @cached_property
    def service_manager(self) -> ServiceManager:
        """Who would keep the service running."""
        return find_keeper(self.environ, self.home)

    def may_write(self, path: Path) -> bool:
        """Whether this may be written, or made."""
        place = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
        return os.access(place, os.W_OK) and not os.statvfs(place).f_flag & os.ST_RDONLY

    def find_program(self, name: str) -> Path | None:
        """Where a program lies, by this environment."""
        found = shutil.which(name, path=self.environ.get("PATH", os.defpath))
        return Path(found) if found else None

    def need_network(self) -> None:
        """Raises CheckSkipped where nothing may be asked over the network."""
        if not self._online:
            raise CheckSkipped("--offline leaves them out")
