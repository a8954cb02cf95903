"""The local Chromium for tests."""

import os
from pathlib import Path

from hob.tools.browser.detection import find_program


def program(folder: Path, *more: str) -> str:
    """Find Chromium; its sandbox is off if tests run as root."""
    flags = (*(("--no-sandbox",) if os.geteuid() == 0 else ()), *more)
    script = folder / "chromium-of-tests"
    found = find_program("", os.environ["PATH"])
    script.write_text(f'#!/bin/sh\nexec {found} {" ".join(flags)} "$@"\n')
    script.chmod(0o755)
    return str(script)
