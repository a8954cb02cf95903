"""The language of a chat: `agent.language`, not the terminal's."""

from hob.agent.settings import AgentSettings
from hob.app.settings.sections import read_config
from hob.core.errors import NotConfigured


def chat_language() -> str:
    """What `agent.language` says; English where the settings cannot be read."""
    try:
        return read_config()[AgentSettings].language
    except NotConfigured:  # the daemon that is attached to was started before that
        return "en"
