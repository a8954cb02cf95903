"""Running git in repositories that a model's commands may have written, without running anything they configure.

Hooks, monitors, filters, pagers and helpers come from settings, so repositories with settings that may run something
are refused. https://git-scm.com/docs/git-config
"""

import asyncio
import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from stat import S_ISDIR, S_ISLNK, S_ISREG
from typing import Protocol, TypeVar

from hob.core.errors import InvalidRequest, NotFound
from hob.core.translation.language import translatable
from hob.tools.exec.process_output import end_process, run_process
from hob.tools.exec.repositories import mode_of, settings_that_run

T = TypeVar("T")

SECONDS, NETWORK_SECONDS = 20.0, 120.0
_ALONE = (
    "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.pager=cat",
    "-c", "commit.gpgsign=false", "-c", "submodule.recurse=false",
    "-c", "core.quotepath=false", "-c", "protocol.ext.allow=never",
)  # fmt: skip
_PASSED = ("HOME", "PATH", "USER", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy")


class GitFailed(InvalidRequest):
    """Raised when git reports an error."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class Git(Protocol):
    """Runs git with `text` as input and returns its output, at most `lines` lines if given. Raises InvalidRequest."""

    def __call__(
        self,
        *arguments: str,
        text: str = "",
        seconds: float = SECONDS,
        fine: Sequence[int] = (0,),
        lines: int | None = None,
    ) -> str: ...


class GitRunner:
    """Runs git and GitHub's `gh` in a folder, without a terminal for password prompts."""

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
        self._git = ""

    async def git(
        self,
        root: Path,
        *arguments: str,
        text: str = "",
        seconds: float = SECONDS,
        fine: Sequence[int] = (0,),
    ) -> str:
        """Run git with `text` as input; return its output. Raises InvalidRequest with git's message if it fails."""
        return await self.git_each(root, lambda git: git(*arguments, text=text, seconds=seconds, fine=fine))

    async def git_each(self, root: Path, job: Callable[[Git], T]) -> T:
        """Return the result of a job that may call git several times, all in one thread. Raises as `git` does."""

        def in_repository(running: list[int]) -> T:
            _check(root)
            return job(partial(self._run, running, root, "git", *_ALONE))

        return await _in_thread(in_repository)

    async def run(
        self, root: Path, *command: str, text: str = "", seconds: float = SECONDS, fine: Sequence[int] = (0,)
    ) -> str:
        """Run a program; return its output. Raises InvalidRequest, and NotFound if it is not installed."""
        return await _in_thread(
            lambda running: self._run(running, root, *command, text=text, seconds=seconds, fine=fine)
        )

    def _run(
        self,
        running: list[int],
        root: Path,
        *command: str,
        text: str = "",
        seconds: float = SECONDS,
        fine: Sequence[int] = (0,),
        lines: int | None = None,
    ) -> str:
        environ = {**self._environ, "GIT_CEILING_DIRECTORIES": str(root.parent)}
        try:
            status, said = run_process(self._argv(root, command), environ, text, seconds, running, lines)
        except FileNotFoundError:
            self._git = ""
            raise NotFound(translatable("{program} is not installed here", program=command[0])) from None
        except TimeoutError:
            raise InvalidRequest(
                translatable("{program} took longer than {seconds} s", program=command[0], seconds=str(round(seconds)))
            ) from None
        if status not in fine:
            raise GitFailed(status, said.strip()[-600:] or f"{command[0]}: {status}")
        return said

    def _argv(self, root: Path, command: Sequence[str]) -> list[str]:
        """Return the arguments that run this command in the folder. Raises FileNotFoundError."""
        program, *arguments = command
        is_git = program == "git"
        found = (is_git and self._git) or shutil.which(program, path=self._environ.get("PATH"))
        if not found:
            raise FileNotFoundError(program)
        if is_git:
            self._git = found
            return [found, "-C", str(root), *arguments]
        return ["/bin/sh", "-c", 'cd -- "$0" && exec "$@"', str(root), found, *arguments]


async def _in_thread(job: Callable[[list[int]], T]) -> T:
    """Run a job that lists the pid of its process while that runs; the process ends if the caller is cancelled."""
    running: list[int] = []
    try:  # in a thread: an asyncio process costs twice as much
        return await asyncio.to_thread(job, running)
    except asyncio.CancelledError:
        for pid in running:
            end_process(pid)
        raise


def _check(root: Path) -> None:
    """Raise InvalidRequest if git must not be run here."""
    folder = root / ".git"
    mode = mode_of(str(folder))
    if S_ISLNK(mode) or S_ISREG(mode):
        raise InvalidRequest(translatable("{folder} leads elsewhere; this repository is left alone", folder=folder))
    if not S_ISDIR(mode):
        raise InvalidRequest(translatable("{folder} is not a git repository yet", folder=root))
    if found := settings_that_run(folder):
        told = translatable(
            "the settings of this repository may run programs ({names}); take them out of {file}",
            names=", ".join(found[:3]), file=folder / "config",
        )  # fmt: skip
        raise InvalidRequest(told)
