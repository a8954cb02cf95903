"""Detection of Chromium, and of the library that controls it. Nothing is downloaded."""

import shutil
from importlib.util import find_spec

EXTRA = "hob[browser]"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PLACES = (
    "/snap/bin/chromium",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def is_library_there() -> bool:
    """Return whether the extra `browser` is installed."""
    return find_spec("playwright") is not None


def find_program(named: str, path: str) -> str:
    """Return Chromium's path from the setting, or under its usual names on `path`; empty if it is not found."""
    candidates = (named,) if named else (*_NAMES, *_PLACES)
    return next(filter(None, (shutil.which(each, path=path) for each in candidates)), "")
