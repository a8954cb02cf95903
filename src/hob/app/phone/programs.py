"""Running `openssl` and `tailscale` with a time limit."""

import subprocess
from collections.abc import Mapping

from hob.core.errors import NotConfigured, NotReady
from hob.core.translation.language import translatable

SECONDS = 90.0
"""Time limit of a program; the authority of tailnet certificates is slow."""


def run_program(*command: str, environ: Mapping[str, str]) -> str:
    """Return a program's output. Raises NotConfigured if it is not installed, NotReady with its message if it fails."""
    program = command[0]
    try:
        done = subprocess.run(
            command, env={**environ, "LC_ALL": "C"}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise NotConfigured(translatable("{program} is not installed here", program=program)) from None
    except subprocess.TimeoutExpired:
        raise NotReady(
            translatable("{program} took longer than {seconds} s", program=program, seconds=str(round(SECONDS)))
        ) from None
    if done.returncode:
        raise NotReady(f"{program}: {' '.join((done.stderr or done.stdout).split())[-300:]}")
    return done.stdout
