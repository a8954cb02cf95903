"""The web page's files. They are public and contain no data of the owner."""

import hashlib
import mimetypes
from collections.abc import Callable, Mapping
from importlib.resources import files

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from hob.core.values import dataclass

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:;"
    " connect-src 'self'; font-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-src 'self' blob:; frame-ancestors 'none'"
)
"""A PDF that the page fetched is framed as a blob, in the browser's own viewer; the frame inherits this policy."""
HEADERS = {
    "content-security-policy": _POLICY,
    "cache-control": "no-cache",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(self)",
}
FRAMED = {
    **HEADERS,
    "content-security-policy": "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
}
"""Policy for a plug-in's page: no origin, no network, and no cookies."""
_TYPES = {".js": "text/javascript", ".webmanifest": "application/manifest+json", ".woff2": "font/woff2"}
_AS_FILE = 'attachment; filename="hob-ca.crt"'
_NOT_BUILT = "The dashboard is not built here. `make web` builds it; installed packages have it."


@dataclass(frozen=True, slots=True)
class _File:
    data: bytes
    packed: bytes
    media_type: str
    etag: str


class PackageFiles:
    """An ASGI application that serves a package's folder, with `index.html` for every other path."""

    def __init__(self, package: str, folder: str, headers: Mapping[str, str] = HEADERS) -> None:
        self._files = _read(package, folder)
        self._headers = headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._answer(scope)(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in {"GET", "HEAD"}:
            return Response("only GET and HEAD", 405, {"allow": "GET, HEAD"}, media_type="text/plain")
        name = str(scope["path"]).lstrip("/")
        if name not in self._files and "." in name.rpartition("/")[2]:
            return Response("there is no such file", 404, media_type="text/plain")
        file = self._files.get(name) or self._files.get("index.html")
        if file is None:
            return Response(_NOT_BUILT, 404, media_type="text/plain")
        headers, wanted = {**self._headers, "etag": file.etag, "vary": "accept-encoding"}, Headers(scope=scope)
        if file.etag in wanted.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if file.packed and "gzip" in wanted.get("accept-encoding", ""):
            return Response(file.packed, headers={**headers, "content-encoding": "gzip"}, media_type=file.media_type)
        return Response(file.data, headers=headers, media_type=file.media_type)


def authority_file(read: Callable[[], bytes | None]) -> ASGIApp:
    """An ASGI application that serves the certificate of Hob's own authority for phones to install."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        found = read()
        if found is None:
            response = Response("there is no such file", 404, media_type="text/plain")
        else:
            response = Response(
                found, headers={"content-disposition": _AS_FILE}, media_type="application/x-x509-ca-cert"
            )
        await response(scope, receive, send)

    return answer


def _read(package: str, folder: str) -> Mapping[str, _File]:
    """Read all files once, by path: they are small, and no others can be requested."""
    import gzip  # most runs serve no page

    found: dict[str, _File] = {}
    rest = [("", files(package) / folder)]
    while rest:
        prefix, place = rest.pop()
        if not place.is_dir():
            continue
        for each in place.iterdir():
            if each.is_dir():
                rest.append((f"{prefix}{each.name}/", each))
                continue
            data = each.read_bytes()
            kind = _TYPES.get(f".{each.name.rpartition('.')[2]}") or mimetypes.guess_type(each.name)[0]
            kind = kind or "application/octet-stream"
            packed = gzip.compress(data, 6, mtime=0) if kind.startswith("text/") or "javascript" in kind else b""
            etag = f'"{hashlib.blake2b(data, digest_size=12).hexdigest()}"'
            found[f"{prefix}{each.name}"] = _File(data, packed, kind, etag)
    return found
