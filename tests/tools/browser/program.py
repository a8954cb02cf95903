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


def sandboxed_program(folder: Path) -> str:
    """Find Chromium, which runs with its sandbox: as another user if tests run as root."""
    found, script = find_program("", os.environ["PATH"]), folder / "sandboxed-chromium"
    if os.geteuid() != 0:
        return program(folder)
    script.write_text(
        '#!/bin/sh\nfor each in "$@"; do case $each in --user-data-dir=*) profile=${each#*=};; esac; done\n'
        'chown -R 65534:65534 "$profile"; up=$profile\n'
        'while [ "$up" != /tmp ]; do up=$(dirname "$up"); [ "$up" = /tmp ] || chmod o+x "$up"; done\n'
        f'exec setpriv --reuid 65534 --regid 65534 --clear-groups {found} "$@"\n'
    )
    script.chmod(0o755)
    return str(script)
