"""The owner's repositories: the port behind the routes."""

from collections.abc import Sequence
from typing import NotRequired, Protocol, TypedDict

from hob.core.content.repository_files import FileAnswer, RepoRow
from hob.core.values import dataclass
from hob.gateway.http.fields import field

REPOS = ("work", "identity")
WHICH = "`work`, or the folder of the identity files: `identity`"


class WorkRepoAnswer(TypedDict):
    """The repository where tools work."""

    path: str


class TreeAnswer(TypedDict):
    """A folder."""

    root: str
    path: str
    rows: list[RepoRow]


class ChangeAnswer(TypedDict):
    """A file that differs from the last commit.

    state: `new`, `changed`, `gone`, `renamed` or `conflict`
    before: the former path of a renamed file
    """

    path: str
    state: str
    before: str


class RepoStatusAnswer(TypedDict):
    """The status of a repository."""

    root: str
    repository: bool
    branch: str
    remote: str
    ahead: int
    behind: int
    changes: list[ChangeAnswer]


class MatchAnswer(TypedDict):
    """A line that contains the text."""

    path: str
    line: int
    text: str


class RepoSearchAnswer(TypedDict):
    """The results of a search.

    root: the folder that contains `repos`
    matches: in the named repository
    """

    root: str
    repos: list[str]
    matches: list[MatchAnswer]


class GitHubAnswer(TypedDict):
    """The status of `gh`."""

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
    """Commits, newest first."""

    commits: list[CommitAnswer]


class DiffAnswer(TypedDict):
    """A difference."""

    diff: str


class RepoDoneAnswer(TypedDict):
    """Git's output."""

    result: str
    hash: NotRequired[str]


@dataclass(frozen=True, slots=True)
class RepoPullRequest:
    """A pull request to open."""

    title: str = field("its title", characters=(1, 250))
    body: str = field("its description", "")
    base: str = field("the branch to merge into; without one, the default branch", "", characters=(0, 250))
    head: str = field("the branch to merge; without one, the current branch", "", characters=(0, 250))
    draft: bool = field("mark it as not ready to merge", False)
    repo: str = field(WHICH, "work", one_of=REPOS)


class Repositories(Protocol):
    """Reads and changes a repository. `repo` is `work` or `identity`; paths are relative to its folder.

    All raise InvalidRequest if git refuses, NotFound for what does not exist there.
    """

    def place(self, repo: str) -> WorkRepoAnswer:
        """Return the folder of the repository."""

    async def tree(self, repo: str, path: str) -> TreeAnswer:
        """List a folder, subfolders first."""

    async def file(self, repo: str, path: str) -> FileAnswer:
        """Return the beginning of a text file."""

    async def status(self, repo: str) -> RepoStatusAnswer:
        """Return the branch and the uncommitted changes."""

    async def search(self, repo: str, text: str) -> RepoSearchAnswer:
        """Return the repositories in the folder, and the lines of files that contain a text."""

    async def branches(self, repo: str) -> BranchesAnswer:
        """List the branches, with the current one."""

    async def checkout(self, repo: str, branch: str, *, create: bool) -> RepoDoneAnswer:
        """Check out a branch."""

    async def log(self, repo: str, limit: int, path: str) -> LogAnswer:
        """List the newest commits, optionally of one path."""

    async def diff(self, repo: str, *, commit: str, path: str) -> DiffAnswer:
        """Return the diff of a commit; without one, of the uncommitted changes."""

    async def commit(self, repo: str, message: str, paths: Sequence[str]) -> RepoDoneAnswer:
        """Commit all changes, or those of these paths."""

    async def pull(self, repo: str) -> RepoDoneAnswer:
        """Fast-forward to the remote branch."""

    async def push(self, repo: str) -> RepoDoneAnswer:
        """Push the branch to its remote."""

    async def init(self, repo: str, remote: str) -> RepoDoneAnswer:
        """Initialize a repository in the folder; set its remote if one is given."""

    async def pull_request(self, pull_request: RepoPullRequest) -> RepoDoneAnswer:
        """Open a pull request with GitHub's `gh`."""

    async def github(self) -> GitHubAnswer:
        """Report whether GitHub's `gh` is installed and signed in."""
