"""The Chromium of this machine, as tests start it."""

import os
from pathlib import Path

from hob.tools.browser.detection import find_program


def program(folder: Path, *more: str) -> str:
    """The Chromium of this machine, without its sandbox where tests run as root."""
    flags = (*(("--no-sandbox",) if os.geteuid() == 0 else ()), *more)
    script = folder / "chromium-of-tests"
    found = find_program("", os.environ["PATH"])
    script.write_text(f'#!/bin/sh\nexec {found} {" ".join(flags)} "$@"\n')
    script.chmod(0o755)
    return str(script)
