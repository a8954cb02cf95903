"""`hob completion`: completion for the shell."""

from typing import Literal

from hob.cli.table import build, commands_of_plugins


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print what SHELL needs to complete commands and options; it is made anew with each version.

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
    """A plug-in's command, of which no more than name and help are known without loading it."""
