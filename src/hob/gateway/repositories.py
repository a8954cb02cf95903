"""The API of the owner's repositories: its requests and answers."""

from typing import NotRequired, TypedDict

from hob.core.content.repository_files import RepoRow
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
    names: paths of its files whose path contains the text
    """

    root: str
    repos: list[str]
    matches: list[MatchAnswer]
    names: list[str]


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
    """A difference.

    version: identifies exactly this difference, for `reviewed` of a commit
    """

    diff: str
    version: str


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
