"""The service manager of this machine."""

import sys
from collections.abc import Mapping
from pathlib import Path

from hob.app.service.launchd import Launchd
from hob.app.service.service_manager import ServiceManager
from hob.app.service.systemd import Systemd


def find_service_manager(environ: Mapping[str, str], home: Path, platform: str = sys.platform) -> ServiceManager:
    """Return launchd on macOS, systemd elsewhere; see `obstacle` for whether it can be used."""
    return Launchd(environ, home) if platform == "darwin" else Systemd(environ)
