"""What `hob` alone does where nothing is set up: a person is led through it, then the chat begins."""

from importlib import import_module

from hob.app.home import socket_of
from hob.config.environment import find_home, process_environment
from hob.core.errors import NotConfigured


def lead_in() -> int:
    """Set Hob up if there is nothing to ask and nobody runs; a status other than 0 ends the program."""
    if socket_of(find_home(process_environment())).exists() or _has_model():
        return 0
    preferences = import_module("hob.cli.onboarding.preferences")
    told = import_module("hob.cli.onboarding.language").told
    language = preferences.spoken_language(import_module("hob.app.settings_sections").read_config())
    print(told("Hello. Hob needs a model to think with, and there is none yet.", language))
    onboard = import_module("hob.cli.setup.onboard").onboard  # it loads much that a chat never needs
    status = onboard()
    print()
    return 130 if status == 130 else 0


def _has_model() -> bool:
    """Whether there is a model to ask, or settings that are wrong: the chat tells what is the matter with them."""
    sections = import_module(
        "hob.app.settings_sections"
    )  # all settings: who attaches to a running Hob needs none of them
    try:
        return bool(sections.choose_models(sections.read_config()).line() != "none")
    except NotConfigured:
        return True
