"""Running git where commands of a model may have written: it runs nothing that a repository names.

Hooks, monitors, filters, pagers and helpers come from settings, so a repository with settings that may run something is
left alone. https://git-scm.com/docs/git-config
"""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path

from hob.core.errors import InvalidRequest, NotFound
from hob.core.translation.language import translatable
from hob.tools.exec.repositories import settings_that_run

SECONDS, NETWORK_SECONDS = 20.0, 120.0
_MOST_BYTES = 2_000_000
_ALONE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.pager=cat",
    "-c", "commit.gpgsign=false", "-c", "submodule.recurse=false",
    "-c", "core.quotepath=false", "-c", "protocol.ext.allow=never",
)  # fmt: skip
_PASSED = ("HOME", "PATH", "USER", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy")


class GitFailed(InvalidRequest):
    """git refused."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class Programs:
    """Runs git, and GitHub's `gh`, in a folder; there is no terminal to ask for a password."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = {
            **{name: environ[name] for name in _PASSED if name in environ},
            "LC_ALL": "C.UTF-8",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_EDITOR": "true",
            "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file",
            "GIT_SSH_COMMAND": "ssh -o BatchMode=yes",
            "GH_PROMPT_DISABLED": "1",
            "NO_COLOR": "1",
        }

    async def git(
        self, root: Path, *arguments: str, text: str = "", seconds: float = SECONDS, fine: Sequence[int] = (0,)
    ) -> str:
        """What git says; `text` is given to it. Raises InvalidRequest, with git's own words where it refuses."""
        folder = root / ".git"
        if folder.is_symlink() or folder.is_file():
            raise InvalidRequest(translatable("{folder} leads elsewhere; this repository is left alone", folder=folder))
        if not folder.is_dir():
            raise InvalidRequest(translatable("{folder} is not a git repository yet", folder=root))
        if found := await asyncio.to_thread(settings_that_run, folder):
            told = translatable(
                "the settings of this repository may run programs ({names}); take them out of {file}",
                names=", ".join(found[:3]), file=folder / "config",
            )  # fmt: skip
            raise InvalidRequest(told)
        return await self.run(root, "git", *_ALONE, *arguments, text=text, seconds=seconds, fine=fine)

    async def run(
        self, root: Path, *command: str, text: str = "", seconds: float = SECONDS, fine: Sequence[int] = (0,)
    ) -> str:
        """What a program says. Raises InvalidRequest, NotFound where it is not installed."""
        environ = {**self._environ, "GIT_CEILING_DIRECTORIES": str(root.parent)}
        try:
            process = await asyncio.create_subprocess_exec(
                *command, cwd=root, env=environ, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        except FileNotFoundError:
            raise NotFound(translatable("{program} is not installed here", program=command[0])) from None
        try:
            async with asyncio.timeout(seconds):
                said = await _talk(process, text)
                status = await process.wait()
        except TimeoutError:
            raise InvalidRequest(
                translatable("{program} took longer than {seconds} s", program=command[0], seconds=str(round(seconds)))
            ) from None
        finally:
            if process.returncode is None:
                _end(process.pid)
                await process.wait()
        if status not in fine:
            raise GitFailed(status, said.strip()[-600:] or f"{command[0]}: {status}")
        return said


async def _talk(process: asyncio.subprocess.Process, text: str) -> str:
    """Give it the text and hear what it says, as far as anybody would read that."""
    assert process.stdin is not None  # noqa: S101 - both are pipes
    assert process.stdout is not None  # noqa: S101
    process.stdin.write(text.encode())
    process.stdin.close()
    pieces, size = [], 0
    while size < _MOST_BYTES and (piece := await process.stdout.read(65_536)):
        pieces.append(piece)
        size += len(piece)
    if size >= _MOST_BYTES:
        _end(process.pid)
        await process.wait()
        raise InvalidRequest(translatable("this is more than {count} bytes; choose a file", count=str(_MOST_BYTES)))
    return b"".join(pieces).decode("utf-8", "replace")


def _end(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
