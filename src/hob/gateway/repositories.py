"""The owner's repositories: the port behind the routes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol


class PullRequest(NamedTuple):
    """What is asked of a project. Empty branches: the usual ones."""

    title: str
    body: str = ""
    base: str = ""
    head: str = ""
    draft: bool = False


class Repositories(Protocol):
    """Looks at a repository and changes it. `repo` is `work` or `identity`; paths are relative to its folder.

    All raise InvalidRequest for what git refuses, NotFound for what is not in it.
    """

    def place(self, repo: str) -> Mapping[str, Any]:
        """Where the repository is."""

    async def tree(self, repo: str, path: str) -> Mapping[str, Any]:
        """What lies in a folder, folders first."""

    async def file(self, repo: str, path: str) -> Mapping[str, Any]:
        """The beginning of a file, if it is text."""

    async def status(self, repo: str) -> Mapping[str, Any]:
        """The branch, and what was changed since the last commit."""

    async def search(self, repo: str, text: str) -> Mapping[str, Any]:
        """The repositories in the folder, and the lines of files that hold a text."""

    async def branches(self, repo: str) -> Mapping[str, Any]:
        """The branches, and which one is checked out."""

    async def checkout(self, repo: str, branch: str, *, create: bool) -> Mapping[str, Any]:
        """Go to a branch."""

    async def log(self, repo: str, limit: int, path: str) -> Mapping[str, Any]:
        """The newest commits, of a path if one is given."""

    async def diff(self, repo: str, *, commit: str, path: str) -> Mapping[str, Any]:
        """What a commit changed; without one what was changed since the last."""

    async def commit(self, repo: str, message: str, paths: Sequence[str]) -> Mapping[str, Any]:
        """Commit all changes, or those of these paths."""

    async def pull(self, repo: str) -> Mapping[str, Any]:
        """Take over what came to the remote branch, if that needs no merge."""

    async def push(self, repo: str) -> Mapping[str, Any]:
        """Send the branch to its remote."""

    async def init(self, repo: str, remote: str) -> Mapping[str, Any]:
        """Make the folder a repository; set the address of its remote if one is given."""

    async def pull_request(self, repo: str, asked: PullRequest) -> Mapping[str, Any]:
        """Open a pull request with GitHub's own program."""

    async def github(self) -> Mapping[str, Any]:
        """Whether GitHub's program is there and signed in."""


class LazyRepositories(NamedTuple):
    """Leads to the repositories, which are loaded when they are first looked at."""

    get: Callable[[], Repositories]
