"""Which settings there are: every package's section, by the name it has in the file and the environment."""

from collections.abc import Mapping

from hob.agent.budget.limits import SpendingSettings
from hob.agent.settings import AgentSettings
from hob.app.subsystems import SUBSYSTEMS
from hob.bus.settings import BusSettings
from hob.config.environment import find_home, process_environment
from hob.config.loading import Config, load_config
from hob.gateway.settings import GatewaySettings
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.screening.scanner.settings import ScannerSettings
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.providers.routing.choice import Choice
from hob.providers.screening.settings import ClassifierSettings, PromptGuardSettings, SanitizerSettings
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
    """The settings of this process's home. Raises ConfigInvalid."""
    environ = process_environment()
    return load_config(SECTIONS, home=find_home(environ), environ=environ, flags=flags or {}, stored=stored or {})


def choose_models(config: Config) -> Choice:
    """What there is to ask, by these settings and the environment."""
    return Choice(config[ModelSettings], process_environment())
