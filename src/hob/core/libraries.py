"""Libraries that only some people need, and how to add one to this Hob."""

import shlex
import sys
from importlib.util import find_spec


def install_command(*libraries: str, python: str = sys.executable) -> str:
    """What installs libraries into the environment of this Python; those that uv makes have no pip."""
    python = shlex.quote(python)
    pip = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return " ".join((pip, *map(shlex.quote, libraries)))
