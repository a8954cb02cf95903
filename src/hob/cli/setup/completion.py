"""`hob completion`."""

from typing import Literal

from hob.cli.table import build


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print what SHELL needs to complete commands and options; it is made anew with each version.

    Parameters
    ----------
    shell
        Which shell: bash, zsh or fish.
    """
    print(build().generate_completion(shell=shell))
