"""The owner's repositories: the port behind the routes."""

from collections.abc import Sequence
from typing import NotRequired, Protocol, TypedDict

from hob.core.content.repository_files import FileAnswer, RepoRow
from hob.core.values import dataclass
from hob.gateway.http.fields import field

REPOS = ("work", "identity")
WHICH = "`work`, or the folder of the identity files: `identity`"


class WorkRepoAnswer(TypedDict):
    """Where tools work."""

    path: str


class TreeAnswer(TypedDict):
    """A folder."""

    root: str
    path: str
    rows: list[RepoRow]


class ChangeAnswer(TypedDict):
    """A file that was changed since the last commit.

    state: `new`, `changed`, `gone`, `renamed` or `conflict`
    before: what a renamed one was called
    """

    path: str
    state: str
    before: str


class RepoStatusAnswer(TypedDict):
    """How a repository is."""

    root: str
    repository: bool
    branch: str
    remote: str
    ahead: int
    behind: int
    changes: list[ChangeAnswer]


class MatchAnswer(TypedDict):
    """A line that holds the text."""

    path: str
    line: int
    text: str


class RepoSearchAnswer(TypedDict):
    """What was found.

    root: the folder below which `repos` lie
    matches: in the repository that was named
    """

    root: str
    repos: list[str]
    matches: list[MatchAnswer]


class GitHubAnswer(TypedDict):
    """How `gh` is."""

    status: str
    detail: str


class BranchesAnswer(TypedDict):
    """Branches."""

    branches: list[str]
    current: str


class CommitAnswer(TypedDict):
    """A commit."""

    hash: str
    author: str
    at: float
    subject: str


class LogAnswer(TypedDict):
    """Commits, the newest first."""

    commits: list[CommitAnswer]


class DiffAnswer(TypedDict):
    """A difference."""

    diff: str


class RepoDoneAnswer(TypedDict):
    """What git said."""

    result: str
    hash: NotRequired[str]


@dataclass(frozen=True, slots=True)
class RepoPullRequest:
    """What is asked of the project."""

    title: str = field("its title", characters=(1, 250))
    body: str = field("what it is about", "")
    base: str = field("the branch that it shall go to; without it the usual one", "", characters=(0, 250))
    head: str = field("the branch that it comes from; without it the one that is checked out", "", characters=(0, 250))
    draft: bool = field("not to be merged yet", False)
    repo: str = field(WHICH, "work", one_of=REPOS)


class Repositories(Protocol):
    """Looks at a repository and changes it. `repo` is `work` or `identity`; paths are relative to its folder.

    All raise InvalidRequest for what git refuses, NotFound for what is not in it.
    """

    def place(self, repo: str) -> WorkRepoAnswer:
        """Where the repository is."""

    async def tree(self, repo: str, path: str) -> TreeAnswer:
        """What lies in a folder, folders first."""

    async def file(self, repo: str, path: str) -> FileAnswer:
        """The beginning of a file, if it is text."""

    async def status(self, repo: str) -> RepoStatusAnswer:
        """The branch, and what was changed since the last commit."""

    async def search(self, repo: str, text: str) -> RepoSearchAnswer:
        """The repositories in the folder, and the lines of files that hold a text."""

    async def branches(self, repo: str) -> BranchesAnswer:
        """The branches, and which one is checked out."""

    async def checkout(self, repo: str, branch: str, *, create: bool) -> RepoDoneAnswer:
        """Go to a branch."""

    async def log(self, repo: str, limit: int, path: str) -> LogAnswer:
        """The newest commits, of a path if one is given."""

    async def diff(self, repo: str, *, commit: str, path: str) -> DiffAnswer:
        """What a commit changed; without one what was changed since the last."""

    async def commit(self, repo: str, message: str, paths: Sequence[str]) -> RepoDoneAnswer:
        """Commit all changes, or those of these paths."""

    async def pull(self, repo: str) -> RepoDoneAnswer:
        """Take over what came to the remote branch, if that needs no merge."""

    async def push(self, repo: str) -> RepoDoneAnswer:
        """Send the branch to its remote."""

    async def init(self, repo: str, remote: str) -> RepoDoneAnswer:
        """Make the folder a repository; set the address of its remote if one is given."""

    async def pull_request(self, pull_request: RepoPullRequest) -> RepoDoneAnswer:
        """Open a pull request with GitHub's own program."""

    async def github(self) -> GitHubAnswer:
        """Whether GitHub's program is there and signed in."""
