"""State at the start of a chat: settings, model, sandbox and unseen messages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hob.agent.settings import AgentSettings
from hob.app.daemon.command_check import find_command_backend
from hob.app.settings.sections import read_config
from hob.cli.chat.connection import ChatConnection
from hob.cli.chat.input.input_draft import one_line
from hob.cli.chat.sentences import say
from hob.cli.chat.unseen_messages import UnseenMessage, fetch_earlier
from hob.config.environment import process_environment
from hob.config.loading import Config
from hob.core.errors import NotConfigured
from hob.core.screening.detectors import find_sensitive
from hob.core.screening.kinds import SECRETS
from hob.core.translation.language import translated
from hob.core.values import dataclass
from hob.guard.screening.masking.known_secrets import KnownSecrets, readable_values, values_in
from hob.guard.screening.masking.mask import MASKED
from hob.providers.settings import ModelSettings


@dataclass(frozen=True, slots=True)
class StartupState:
    """The state at the start. `model` is empty if there is none; `elsewhere` counts unseen outcomes of other
    conversations.

    `no_commands` says why no command can run, and what helps; empty if commands can run.
    """

    config: Config | None
    session: str
    mask: Callable[[str], str]
    model: str
    models: Sequence[str]
    earlier: Sequence[UnseenMessage]
    elsewhere: Mapping[str, int]
    no_commands: str


def chat_config() -> Config | None:
    """Load the settings; None if they are invalid, as the running daemon may have started before."""
    try:
        return read_config()
    except NotConfigured:
        return None


def chat_language(config: Config | None) -> str:
    """Return the chat's language: `agent.language`, not the terminal's."""
    return config[AgentSettings].language if config else "en"


def find_session(connection: ChatConnection) -> str:
    """Return the conversation that this terminal last used."""
    return str(connection.look("/sessions/show").get("session", "local:main"))


def load_startup_state(connection: ChatConnection, session: str) -> StartupState:
    """Collect the state of this session, or of the terminal's current one; takes some tenths of a second."""
    config = chat_config()
    session = session or find_session(connection)
    earlier, others = fetch_earlier(connection, session)
    line = str(connection.look("/status").get("model", "none"))
    model = "" if line == "none" else one_line(line)
    no_commands = explain_no_commands(config)
    return StartupState(config, session, secret_masker(config), model, _models(config), earlier, others, no_commands)


def explain_no_commands(config: Config | None) -> str:
    """Return why no command can run, and what to do; empty if commands can run. Starts a process."""
    if config is None:
        return ""
    try:
        find_command_backend(config, process_environment())
    except NotConfigured as error:
        language = chat_language(config)
        return say("commands cannot run: {why}", language, why=translated(error.args[0], language))
    return ""


def _models(config: Config | None) -> Sequence[str]:
    if config is None:
        return ()
    settings: Any = config[ModelSettings]
    named = (*settings.aliases, settings.name, *settings.fallbacks, *settings.tasks.values())
    return tuple(dict.fromkeys(name for name in named if name))


def secret_masker(config: Config | None) -> Callable[[str], str]:
    """Return a function that masks configured secrets and anything that looks like one."""
    known = KnownSecrets({**(readable_values(config.secrets()) if config else {}), **values_in(process_environment())})

    def mask(text: str) -> str:
        text = known(text)
        for found in reversed(find_sensitive(text, SECRETS)):
            text = text[: found.start] + MASKED + text[found.end :]
        return text

    return mask
