"""`hob completion`: shell completion."""

from typing import Literal

from hob.cli.table import build, commands_of_plugins


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the completion script of a shell; it changes with each version.

    Parameters
    ----------
    shell
        Which shell: bash, zsh or fish.
    """
    app = build()
    for name, (_plugin, text) in commands_of_plugins().items():
        app.command(_loaded_when_used, name=name, help=text)
    print(app.generate_completion(shell=shell))


def _loaded_when_used() -> None:
    """Stand-in for a plug-in's command, of which only name and help are known before it loads."""
