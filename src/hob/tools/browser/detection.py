"""Finding Chromium and the library that steers it. Nothing is downloaded."""

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
    """Whether the extra `browser` is installed."""
    return find_spec("playwright") is not None


def find_program(named: str, path: str) -> str:
    """Chromium's path, by the setting or by the usual names in these folders; empty where there is none."""
    candidates = (named,) if named else (*_NAMES, *_PLACES)
    return next(filter(None, (shutil.which(each, path=path) for each in candidates)), "")
