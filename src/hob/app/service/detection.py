"""Which service manager this machine has."""

import sys
from collections.abc import Mapping
from pathlib import Path

from hob.app.service.launchd import Launchd
from hob.app.service.service_manager import ServiceManager
from hob.app.service.systemd import Systemd


def find_keeper(environ: Mapping[str, str], home: Path, platform: str = sys.platform) -> ServiceManager:
    """launchd on macOS, systemd everywhere else; whether it can be used, it says itself."""
    return Launchd(environ, home) if platform == "darwin" else Systemd(environ)
