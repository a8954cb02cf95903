"""Names of routes below `/api/v1`: how those of the API are called there."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hob.core.trust.scopes import TokenScope
from hob.gateway.http.endpoint import Endpoint
from hob.gateway.http.fields import Nothing
from hob.gateway.http.reply import problem_response

PREFIX = "/api/v1"


def own(
    method: str, path: str, handler: Any, scope: TokenScope | None, takes: Any = Nothing, **more: Any
) -> Endpoint[Any]:
    """An endpoint that only the dashboard's listener has."""
    return Endpoint(method, f"{PREFIX}{path}", handler, scope, takes, failing=problem_response, **more)


class Known:
    """Endpoints of the API, for which there is a name here too."""

    def __init__(self, endpoints: Iterable[Endpoint[Any]]) -> None:
        self._known = {(each.method, each.path): each for each in endpoints}

    def same(self, method: str, path: str, name: str = "", also: tuple[TokenScope, ...] = ()) -> Endpoint[Any]:
        """The endpoint under its name here, for the owner at a browser as for the one at the Unix socket."""
        known = self._known[method, path]
        named = f"{PREFIX}{name or path}"
        return replace(known, path=named, also=(*known.also, *also), failing=problem_response, local=False)
