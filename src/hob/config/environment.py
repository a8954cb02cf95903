"""The process environment. No other module of Hob reads it."""

import os
from collections.abc import Mapping
from pathlib import Path

from hob.core.translation.language import translatable

PREFIX = "HOB_"
HOME_VARIABLE = "HOB_HOME"


def process_environment() -> Mapping[str, str]:
    """Return the environment of this process, live."""
    return os.environ


def find_home(environ: Mapping[str, str]) -> Path:
    """Return where Hob keeps its state: `$HOB_HOME`, or `~/.hob`. Absolute; it need not exist."""
    return expand_path(environ.get(HOME_VARIABLE) or "~/.hob", environ, Path.cwd())


def expand_path(text: str, environ: Mapping[str, str], base: Path) -> Path:
    """Return an absolute path; `~` is the user's home directory, and relative paths start at `base`.

    Raises ValueError for an empty path, a NUL byte or an unknown user.
    """
    if not text or "\0" in text:
        raise ValueError(translatable("the path is empty") if not text else translatable("the path holds a NUL byte"))
    own_home = environ.get("HOME", "")
    if own_home and (text == "~" or text.startswith("~/")):
        return Path(own_home + text[1:])
    try:
        return base / Path(text).expanduser()
    except RuntimeError as error:
        raise ValueError(translatable("there is no user for {path}", path=text.split("/")[0])) from error
