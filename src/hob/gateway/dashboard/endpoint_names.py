"""Route names below `/api/v1`, and API endpoints under such a name."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hob.core.trust.scopes import TokenScope
from hob.gateway.http.endpoint import Endpoint
from hob.gateway.http.fields import Nothing
from hob.gateway.http.reply import problem_response

PREFIX = "/api/v1"
RESERVED = (
    "skills", "jobs", "channels", "pairing", "harness", "projects", "boards", "contacts", "group", "orchestrator",
    "knowledge", "modes",
)  # fmt: skip
"""Names below the prefix that are Hob's, now or later, and no plug-in's."""


def is_reserved(path: str) -> bool:
    """Return whether the path is below a reserved name."""
    return path.removeprefix(f"{PREFIX}/").partition("/")[0] in RESERVED


def own(
    method: str, path: str, handler: Any, scope: TokenScope | None, takes: Any = Nothing, **more: Any
) -> Endpoint[Any]:
    """Return an endpoint that only the dashboard's listener serves."""
    return Endpoint(method, f"{PREFIX}{path}", handler, scope, takes, failing=problem_response, **more)


class NamedEndpoints:
    """API endpoints that can get a second name below `/api/v1`."""

    def __init__(self, endpoints: Iterable[Endpoint[Any]]) -> None:
        self._known = {(each.method, each.path): each for each in endpoints}

    def same(self, method: str, path: str, name: str = "", also: tuple[TokenScope, ...] = ()) -> Endpoint[Any]:
        """Return the API endpoint under its name here, for the owner in a browser too."""
        known = self._known[method, path]
        named = f"{PREFIX}{name or path}"
        return replace(known, path=named, also=(*known.also, *also), failing=problem_response, local=False)
