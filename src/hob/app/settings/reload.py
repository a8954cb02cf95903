"""Reloading settings and secrets while Hob runs: on SIGHUP, and after `hob secrets`."""

import logging
from collections.abc import Callable, Mapping

from hob.app.logs.log_file import reopen_logs
from hob.app.maintenance.settings import LogSettings
from hob.app.settings.run_time import holds_at_run_time
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.errors import NotConfigured
from hob.core.events.tracing import CONTENT_FREE
from hob.gateway.answer_types import ReloadedAnswer
from hob.guard.screening.masking.known_secrets import KnownSecrets, readable_values
from hob.providers.settings import ModelSettings

log = logging.getLogger(__name__)


class SettingsReload:
    """Reloads when called. Invalid settings change nothing; settings that need a restart are listed."""

    def __init__(
        self,
        config: Config,
        known: KnownSecrets,
        clock: Clock,
        changed: Callable[[Config], None],
        models: Callable[[ModelSettings], None],
    ) -> None:
        """`changed` is called after each reload, `models` when the models' settings differ."""
        self._began = self._config = self._asked = config
        self._known = known
        self._clock = clock
        self._at: float | None = None
        self._waiting: list[str] = []
        self._stored: Mapping[str, str] | None = None
        """The settings stored in the database since the start."""
        self._problem = ""
        self._changed = changed
        self._models = models
        known.watch(config.secrets())

    def __call__(self) -> ReloadedAnswer:
        """Reload the settings and return the outcome, like `view`. Secrets are read when next needed."""
        try:
            new = self._began.read_again()
            if self._stored is not None:
                new = new.with_stored(self._stored)
        except NotConfigured as error:
            self._problem = str(error)
            log.error("the settings are wrong and stay as they were: %s", error)
            return self.view()
        self._problem, self._at = "", self._clock.now().timestamp()
        renewed = self._renew_secrets(new)
        self._config, self._waiting = new, _changed_keys(self._began, new, _needs_restart)
        if _changed_keys(self._asked, new, _is_model_key):
            self._asked = new
            self._models(new[ModelSettings])
        try:
            reopen_logs(new[LogSettings])
        except OSError as error:
            log.error("the log file cannot be opened again: %s", error.strerror)
        self._changed(new)
        log.info("settings and secrets were read again: %d secrets", renewed, extra=CONTENT_FREE)
        if waiting := self.waiting():
            log.warning("these settings hold from the next start on: %s", ", ".join(waiting))
        return self.view()

    def store(self, stored: Mapping[str, str]) -> ReloadedAnswer:
        """Apply these values as the complete stored settings."""
        self._stored = stored
        return self()

    @property
    def config(self) -> Config:
        """The settings as last read."""
        return self._config

    def waiting(self) -> list[str]:
        """Return the keys whose new values take effect with a restart."""
        return self._waiting

    def view(self) -> ReloadedAnswer:
        """Return the time of the last reload, the keys that wait for a restart, and the problem, if any."""
        return {"at": self._at, "waiting": self.waiting(), "problem": self._problem or None}

    def _renew_secrets(self, new: Config) -> int:
        others = dict(new.secrets())
        for config in (self._began, self._asked):
            held = dict(config.secrets())
            for name in held.keys() & others.keys():
                held[name].replace_with(others[name])
            self._known.watch(held.items())
        self._known.watch(others.items())
        self._known.learn(readable_values(others.items()))
        return len(others)


def _changed_keys(began: Config, config: Config, wanted: Callable[[str], bool]) -> list[str]:
    now, then = _plain_values(config, wanted), _plain_values(began, wanted)
    return sorted(key for key in now if now[key] != then[key])


def _plain_values(config: Config, wanted: Callable[[str], bool]) -> dict[str, str]:
    """Return the selected keys with their values, secrets hidden."""
    return {key: repr(value) for key, value, _ in config.items() if wanted(key)}


def _needs_restart(key: str) -> bool:
    return not holds_at_run_time(key)


def _is_model_key(key: str) -> bool:
    return key.partition(".")[0] == "model"
