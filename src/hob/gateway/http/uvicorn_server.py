"""uvicorn's server without its command line. Its package imports click and multiprocessing, 2 MB that a daemon would
never free.
"""

import sys
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any


def _package() -> ModuleType:
    """Return uvicorn's package without running its imports; its other names are loaded on first use."""
    spec = find_spec("uvicorn")
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError("No module named 'uvicorn'", name="uvicorn")
    package, load = module_from_spec(spec), spec.loader.exec_module

    def load_whole(name: str) -> Any:
        del package.__getattr__
        load(package)
        return getattr(package, name)

    package.__getattr__ = load_whole  # type: ignore[method-assign]
    return package


if "uvicorn" not in sys.modules:
    sys.modules["uvicorn"] = _package()

from uvicorn.config import Config  # noqa: E402
from uvicorn.server import Server  # noqa: E402

# the names that uvicorn's own modules import from the package
sys.modules["uvicorn"].__dict__.update(Config=Config, Server=Server)

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle  # noqa: E402

__all__ = ["Config", "HttpToolsProtocol", "RequestResponseCycle", "Server"]
