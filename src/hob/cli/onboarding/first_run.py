"""The first run of `hob`: set Hob up, then start the chat."""

from hob.app.home import socket_of
from hob.config.environment import find_home, process_environment
from hob.core.errors import NotConfigured


def lead_in() -> int:
    """Set Hob up if no model is connected and no daemon runs; a status other than 0 ends the program."""
    if socket_of(find_home(process_environment())).exists() or _has_model():
        return 0
    from hob.app.settings.sections import read_config
    from hob.cli.onboarding.preferences import spoken_language
    from hob.cli.setup.onboard import onboard  # loads much that a chat never needs
    from hob.core.translation.language import translated

    language = spoken_language(read_config())
    print(translated("Hello. Hob needs a model, and none is connected yet.", language))
    status = onboard()
    print()
    return 130 if status == 130 else 0


def _has_model() -> bool:
    """Return whether a model is configured. Also true for invalid settings, which the chat reports."""
    from hob.app.settings.sections import choose_models, read_config  # a running Hob needs no settings from here

    try:
        return choose_models(read_config()).line() != "none"
    except NotConfigured:
        return True
