"""The configuration sections of all packages, by their name in the file and the environment."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from hob.agent.budget.limits import SpendingSettings
from hob.agent.settings import AgentSettings
from hob.app.plugins import MANIFESTS, KeptSettings
from hob.app.subsystems import SUBSYSTEMS
from hob.bus.settings import BusSettings
from hob.config.environment import find_home, process_environment
from hob.config.layers import UNKNOWN_SECTION
from hob.config.loading import Config, load_config
from hob.config.problems import ConfigInvalid
from hob.core.lazy import Lazy
from hob.gateway.settings import GatewaySettings
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.screening.model_calls.settings import PromptGuardSettings, SanitizerSettings
from hob.guard.screening.scanner.settings import ScannerSettings
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.providers.routing.choice import ModelChoice
from hob.providers.routing.classifier_settings import ClassifierSettings
from hob.providers.settings import ModelSettings
from hob.store.settings import StoreSettings
from hob.workspace.settings import WorkspaceSettings

SECTIONS: Mapping[str, type] = {
    "model": ModelSettings,
    "prompt_guard": PromptGuardSettings,
    "sanitizer": SanitizerSettings,
    "classifier": ClassifierSettings,
    "agent": AgentSettings,
    "spending": SpendingSettings,
    "workspace": WorkspaceSettings,
    "gateway": GatewaySettings,
    "bus": BusSettings,
    "store": StoreSettings,
    "policy": PolicySettings,
    "approvals": ApprovalSettings,
    "admission": AdmissionSettings,
    "scanner": ScannerSettings,
    **{name: section for each in SUBSYSTEMS for name, section in each.settings.items()},
}


def read_config(flags: Mapping[str, str] | None = None, stored: Mapping[str, str] | None = None) -> Config:
    """Load the settings of this process's home. Raises ConfigInvalid."""
    environ = process_environment()
    return load_settings(find_home(environ), environ, flags=flags, stored=stored)


def load_stored() -> Mapping[str, str]:
    """Load the stored settings of this process's home, which override file and environment. Raises StoreErrors."""
    from hob.store.stored_settings import read_stored  # loads SQLite

    return read_stored(find_home(process_environment()))


def load_settings(
    home: Path,
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, str] | None = None,
    stored: Mapping[str, str] | None = None,
) -> Config:
    """Load the settings of a home, ignoring sections of disabled plug-ins. Raises ConfigInvalid."""
    read = partial(load_config, home=home, environ=environ, flags=flags or {}, stored=stored or {})
    sections = _known_sections(home)
    try:
        return read(sections)
    except ConfigInvalid as invalid:
        unknown = [problem.key for problem in invalid.problems if problem.reason == UNKNOWN_SECTION]
        off = _load_installed()().keys() & unknown if unknown else ()
        if not off:
            raise
        return read({**sections, **dict.fromkeys(off, KeptSettings)})


def sections_of(home: Path, environ: Mapping[str, str]) -> Mapping[str, type]:
    """Return Hob's own sections and those of plug-ins."""
    try:
        return load_settings(home, environ).sections
    except ConfigInvalid:
        return _known_sections(home)


def _known_sections(home: Path) -> Mapping[str, type]:
    return {**_load_plugin_sections()(home), **SECTIONS} if (home / MANIFESTS).exists() else SECTIONS


@Lazy
def _load_plugin_sections() -> Callable[[Path], Mapping[str, type]]:
    from hob.app.plugins.manifest import sections_of_plugins

    return sections_of_plugins


@Lazy
def _load_installed() -> Callable[[], Mapping[str, object]]:
    from hob.app.plugins.installed import installed

    return installed


def choose_models(config: Config) -> ModelChoice:
    """Return the models that these settings and the environment make available."""
    return ModelChoice(config[ModelSettings], process_environment())
