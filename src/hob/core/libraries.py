"""Optional libraries and how to install them for this Hob."""

import shlex
import sys
from importlib.util import find_spec


def install_command(*libraries: str, python: str = sys.executable) -> str:
    """Return the command that installs libraries into this environment; those made by uv have no pip."""
    python = shlex.quote(python)
    pip = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return " ".join((pip, *map(shlex.quote, libraries)))
