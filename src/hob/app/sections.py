"""Which settings there are: every package's section, by the name it has in the file and the environment."""

from collections.abc import Mapping

from hob.agent.settings import AgentSettings
from hob.agent.spending import SpendingSettings
from hob.bus.settings import BusSettings
from hob.config import Config, find_home, load_config, process_environment
from hob.gateway.settings import GatewaySettings
from hob.providers.settings import ModelSettings, settings_from_environ
from hob.store.settings import StoreSettings
from hob.workspace.settings import WorkspaceSettings

SECTIONS: Mapping[str, type] = {
    "model": ModelSettings,
    "agent": AgentSettings,
    "spending": SpendingSettings,
    "workspace": WorkspaceSettings,
    "gateway": GatewaySettings,
    "bus": BusSettings,
    "store": StoreSettings,
}


def read_config(flags: Mapping[str, str] | None = None, stored: Mapping[str, str] | None = None) -> Config:
    """The settings of this process's home. Raises ConfigInvalid."""
    environ = process_environment()
    return load_config(SECTIONS, home=find_home(environ), environ=environ, flags=flags or {}, stored=stored or {})


def model_settings(config: Config) -> ModelSettings:
    """The model's settings, with OPENAI_API_KEY and OPENAI_BASE_URL where nothing is configured."""
    return settings_from_environ(config[ModelSettings], process_environment())
