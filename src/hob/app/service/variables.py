"""The service's environment file: `NAME='value'` lines that systemd and a shell read alike."""

import re
from collections.abc import Iterable, Mapping

from hob.providers.catalog.catalog import PROVIDERS

_ALSO = ("OPENAI_BASE_URL", "OPENAI_MODEL", "SSL_CERT_FILE", "SSL_CERT_DIR", "TZ", "LANG")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)=")
HEAD = """\
# Variables of the service, one NAME='value' a line; only you may read this file.
# After a change: hob service restart
"""


def names_in(text: str) -> frozenset[str]:
    """Return the names of the variables set in such a file."""
    return frozenset(found[1] for line in text.splitlines() if (found := _LINE.match(line)))


def service_variables(environ: Mapping[str, str], more: Iterable[str] = ()) -> dict[str, str]:
    """Return the variables of this environment that Hob uses and a service would not inherit."""
    known = {name for provider in PROVIDERS for name in (*provider.keys, *provider.urls)}
    names = {*known, *_ALSO, *_PROXIES, *(name.upper() for name in _PROXIES), *more}
    own = {name for name in environ if name.startswith("HOB_") and name != "HOB_HOME"}
    return {name: environ[name] for name in sorted(names | own) if environ.get(name, "").strip()}


def set_values(text: str, values: Mapping[str, str]) -> str:
    """Return the file with these values set and everything else unchanged. Raises ValueError for unsuitable values."""
    for name, value in values.items():
        if not value.isprintable() or "'" in value or "\\" in value:
            raise ValueError(name)
    kept = [line for line in text.splitlines() if not ((found := _LINE.match(line)) and found[1] in values)]
    return "\n".join((*kept, *(f"{name}='{value}'" for name, value in values.items()))) + "\n"
