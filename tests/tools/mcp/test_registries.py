"""Packages are installed from the registries of the owner's npm and pip, with their certificates."""

import asyncio
import base64
import hashlib
import io
import json
import shutil
import socket
import tarfile
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hob.core.errors import NotConfigured
from hob.tools.mcp import installer
from hob.tools.mcp.accepted import installed_package
from hob.tools.mcp.installer import InstallPlan, install, install_problem, plan_of
from hob.tools.mcp.registries import registries_of
from hob.tools.mcp.settings import McpServer
from hob.tools.sandbox.backends.bubblewrap import Bubblewrap
from hob.tools.sandbox.backends.detection import FoundBackend, find_backend
from hob.tools.sandbox.network.authority import RunAuthority
from hob.tools.sandbox.network.hosts import HostRules
from hob.tools.sandbox.network.proxy import Internet, Proxy, ProxyRequest
from hob.tools.sandbox.network.request_heads import ProxyRefused
from tests.tools.mcp.reaching import environment_of

HOST = "packages.company.example"
MANIFEST = {"name": "thing", "version": "1.0.0", "bin": {"thing": "thing.js"}}


@cache
def tarball() -> bytes:
    """Return one archive for all requests: gzip writes the time into it, and npm compares checksums."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in (("package.json", json.dumps(MANIFEST)), ("thing.js", "#!/usr/bin/env node\n")):
            about = tarfile.TarInfo(f"package/{name}")
            about.size = len(text)
            archive.addfile(about, io.BytesIO(text.encode()))
    return out.getvalue()


def wheel() -> bytes:
    out = io.BytesIO()
    files = {
        "thing.py": "def main(): pass\n",
        "thing-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n",
        "thing-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "thing-1.0.dist-info/entry_points.txt": "[console_scripts]\nthing = thing:main\n",
    }
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in {**files, "thing-1.0.dist-info/RECORD": "".join(f"{each},,\n" for each in files)}.items():
            archive.writestr(name, text)
    return out.getvalue()


@dataclass
class Company:
    """A registry of npm and Python that requires a login and has a private certificate authority."""

    folder: Path
    port: int = 0
    logins: set[str] = field(default_factory=set)

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port}"

    @property
    def ca(self) -> str:
        return str(self.folder / "company.pem")

    def answer_of(self, path: str) -> bytes | None:
        archive = tarball()
        about = {"tarball": f"{self.url}/thing.tgz", "shasum": hashlib.sha1(archive).hexdigest()}  # noqa: S324 - npm's
        of_npm = {"name": "thing", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {**MANIFEST, "dist": about}}}
        name = "thing-1.0-py3-none-any.whl"
        return {
            "/thing": json.dumps(of_npm).encode(),
            "/thing.tgz": archive,
            "/simple/thing/": f'<a href="/{name}">{name}</a>'.encode(),
            f"/{name}": wheel(),
        }.get(path)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except (asyncio.IncompleteReadError, OSError):
            writer.close()
            return
        headers = dict(line.lower().partition(": ")[::2] for line in head.split("\r\n"))
        self.logins.add(headers.get("authorization", ""))
        body = self.answer_of(head.split(" ")[1])
        kind = "application/json" if "/thing " in head else "text/html"
        status = "404 Not Found" if body is None else "200 OK"
        writer.write(f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body or b'')}\r\n".encode())
        writer.write(b"Connection: close\r\n\r\n" + (body or b""))
        await writer.drain()
        writer.close()


@asynccontextmanager
async def company(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Company]:
    """Run the registry on the local network under its host name."""
    authority = RunAuthority([HOST], datetime.now(UTC))
    there = Company(folder)
    Path(there.ca).write_bytes(authority.pem + b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n")

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    def found(*given: Any) -> FoundBackend:
        usual = find_backend(*given)
        assert isinstance(usual.backend, Bubblewrap)
        internet = replace(usual.backend.internet, resolve=resolve)
        return replace(usual, backend=replace(usual.backend, internet=internet))

    monkeypatch.setattr(installer, "find_backend", found)
    monkeypatch.setenv("HOME", str(folder))
    async with await asyncio.start_server(
        there.answer, "127.0.0.1", 0, ssl=authority.context(HOST)
    ) as listening:  # fmt: skip
        there.port = listening.sockets[0].getsockname()[1]
        yield there


async def fetched(home: Path, command: str, **environ: str) -> McpServer:
    plan = plan_of(command.split())
    assert isinstance(plan, InstallPlan)
    plain = {"PATH": environment_of(home).environ["PATH"]}
    return await install("thing", plan, McpServer(), replace(environment_of(home), environ={**plain, **environ}))


@pytest.mark.slow
@pytest.mark.bubblewrap
@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is missing")
async def test_npm_package_is_installed_from_the_configured_registry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with company(tmp_path, monkeypatch) as there:
        login = f"//{HOST}:{there.port}/:_authToken=${{COMPANY_TOKEN}}\n"
        killed = tmp_path / "home" / "mcp" / "installing" / "thing" / "npmrc"  # left by an earlier run
        killed.parent.mkdir(parents=True)
        killed.write_text("t0ken")
        (tmp_path / ".npmrc").write_text(f"registry={there.url}/\nscript-shell=/bin/evil\n{login}")
        server = await fetched(tmp_path / "home", "npx thing", COMPANY_TOKEN="t0ken", NODE_EXTRA_CA_CERTS=there.ca)
        assert Path(server.command[0]).exists()
        assert installed_package(tmp_path / "home", "thing") == "thing@1.0.0"
        assert "bearer t0ken" in there.logins
    left = [each for each in (tmp_path / "home" / "mcp").rglob("*") if each.is_file() and "caches" not in each.parts]
    assert not [each for each in left if b"t0ken" in each.read_bytes()]


@pytest.mark.slow
@pytest.mark.bubblewrap
async def test_python_package_is_installed_from_the_configured_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with company(tmp_path, monkeypatch) as there:
        url = f"https://me:secret@{HOST}:{there.port}/simple"
        server = await fetched(tmp_path / "home", "uvx thing --port 9", UV_DEFAULT_INDEX=url, SSL_CERT_FILE=there.ca)
        assert Path(server.command[0]).exists()
        assert installed_package(tmp_path / "home", "thing") == "thing==1.0 --port 9"
        assert f"basic {base64.b64encode(b'me:secret').decode().lower()}" in there.logins


def test_registries_follow_the_settings_of_npm_and_pip(tmp_path: Path) -> None:
    (tmp_path / ".npmrc").write_text("; mine\n@us:registry = https://npm.us.example/\n//npm.us.example/:_authToken=x\n")
    (tmp_path / ".config" / "pip").mkdir(parents=True)
    (tmp_path / ".config" / "pip" / "pip.conf").write_text(
        "[global]\nindex-url = https://pip.us.example:8443/simple\ntrusted-host = pip.us.example\ntimeout = 1\n"
    )
    npm = registries_of("npm", {"NPM_CONFIG_REGISTRY": "http://all.us.example"}, tmp_path)
    assert npm.named == ("all.us.example", "npm.us.example")
    assert {("all.us.example", 80), ("npm.us.example", 443), ("registry.npmjs.org", 443)} <= npm.hosts
    assert "//npm.us.example/:_authToken=x" in npm.npmrc.splitlines()
    pip = registries_of("pypi", {}, tmp_path)
    assert ("pip.us.example", 8443) in pip.hosts
    assert pip.environ["PIP_TRUSTED_HOST"] == "pip.us.example"
    assert "PIP_TIMEOUT" not in pip.environ
    over = registries_of("pypi", {"PIP_INDEX_URL": "https://env.us.example/simple"}, tmp_path)
    assert over.named == ("env.us.example",)
    plan = plan_of(["uvx", "thing"])
    assert plan is not None
    assert plan.source({"PIP_INDEX_URL": "https://env.us.example/simple"}) == "PyPI (env.us.example)"


def test_only_certificates_are_taken_from_certificate_files(tmp_path: Path) -> None:
    one = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----"
    (tmp_path / "all.pem").write_text(f"-----BEGIN PRIVATE KEY-----\nWFla\n-----END PRIVATE KEY-----\n{one}\n")
    environ = {"SSL_CERT_FILE": str(tmp_path / "all.pem"), "PIP_CERT": str(tmp_path / "missing.pem")}
    trusted = registries_of("npm", environ, tmp_path).certificates
    assert one.encode() in trusted
    assert b"WFla" not in trusted


@pytest.mark.parametrize("url", ["https://10.0.0.7/", "http://localhost:4873", "https://[::1/", "file:///etc", "x"])
def test_unreachable_registry_is_named_in_the_error(url: str, tmp_path: Path) -> None:
    with pytest.raises(NotConfigured, match="registry"):
        registries_of("npm", {"npm_config_registry": url}, tmp_path)


@pytest.mark.parametrize(
    ("address", "host", "port", "may"),
    [
        ("10.0.0.7", HOST, 8443, True),
        ("10.0.0.7", HOST, 8444, False),
        ("10.0.0.7", "other.example", 443, False),
        ("169.254.169.254", HOST, 8443, False),
        ("::ffff:169.254.169.254", HOST, 8443, False),
    ],
)
async def test_only_registries_may_resolve_to_the_local_network(address: str, host: str, port: int, may: bool) -> None:
    async def resolve(_host: str, _port: int) -> list[str]:
        return [address]

    internet = Internet(resolve, lambda _: False, local=frozenset({(HOST, 8443)}))
    proxy = Proxy(HostRules([HOST, "other.example"]), lambda _: None, internet)
    try:
        assert await proxy._admit(ProxyRequest(host, port)) == address
    except ProxyRefused:
        assert not may
    else:
        assert may


async def test_connection_open_at_proxy_shutdown_is_no_error() -> None:
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, about: told.append(about))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = listening.getsockname()
        proxy = Proxy(HostRules([HOST]), lambda _: None)
        await proxy.serve(listening)
        _, writer = await asyncio.open_connection(*address)
        while not proxy._open:  # noqa: ASYNC110
            await asyncio.sleep(0)
        (task,) = proxy._open
        proxy.close()
        await asyncio.wait([task])
        await asyncio.sleep(0)  # let the watcher see its end
        writer.close()
    assert told == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "npm error code E404\nnpm error 404 Not Found - GET https://registry.example/thingg\nnpm error 404",
            "the registry has no package thingg@1.0; check its name and version",
        ),
        (
            "ERROR: No matching distribution found for thingg",
            "the registry has no package thingg@1.0; check its name and version",
        ),
        (
            "npm error code ENOTFOUND\nnpm error request to https://r.example failed\nnpm error A complete log of this",
            "thingg@1.0 could not be installed: code ENOTFOUND request to https://r.example failed. Check the name and "
            "the connection, then add it again",
        ),
    ],
)
def test_installation_failure_is_explained_in_one_sentence(said: str, told: str) -> None:
    assert str(install_problem(("npm", "install", "thingg@1.0"), said)) == told
