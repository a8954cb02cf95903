"""The ports behind the routes of memory and repositories, whose requests and answers load on first use."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:  # an idle Hob loads none of these
    from hob.core.content.repository_files import FileAnswer
    from hob.core.memory import FactAction, GoalAnswer, MemoryItemAnswer
    from hob.gateway.memory import (
        DeletedAnswer,
        EmbeddingStatusAnswer,
        FactsAnswer,
        FactsQuery,
        FilesAnswer,
        ForgetRequest,
        ForgottenAnswer,
        GoalsAnswer,
        ImportedAnswer,
        InstalledAnswer,
        MemoryCounts,
        MemoryItemsAnswer,
        MemoryQuery,
        MemoryStatusAnswer,
        RecalledAnswer,
        ReindexedAnswer,
        SetGoalRequest,
        SettledFactAnswer,
        TrustedAnswer,
    )
    from hob.gateway.repositories import (
        BranchesAnswer,
        DiffAnswer,
        GitHubAnswer,
        LogAnswer,
        RepoDoneAnswer,
        RepoPullRequest,
        RepoSearchAnswer,
        RepoStatusAnswer,
        TreeAnswer,
        WorkRepoAnswer,
    )


class EmbeddingControl(Protocol):
    """Status and maintenance of vectors."""

    async def status(self) -> EmbeddingStatusAnswer:
        """Return the status, with KafClaw's fields."""

    async def check(self) -> EmbeddingStatusAnswer:
        """Return the status, after a test call if the embedder was never called."""

    async def install(self, model: str) -> InstalledAnswer:
        """Test the configured embedder, which fetches missing files. Raises InvalidRequest for another model."""

    async def reindex(self, reason: str) -> ReindexedAnswer:
        """Drop all vectors and re-embed in the background. Raises InvalidRequest without an embedder."""


class ItemControl(Protocol):
    """Lists, explains and adds memories."""

    async def items(self, criteria: MemoryQuery) -> MemoryItemsAnswer:
        """Return the matching items: with a query the best first, otherwise the newest. Raises InvalidRequest."""

    async def recalled(self, turn: str = "", session: str = "") -> RecalledAnswer:
        """Return what this turn, or the newest one (of a session) with any, was shown. Raises NotFound."""

    async def item(self, id: str) -> MemoryItemAnswer:
        """Return one item with every field. Raises NotFound."""

    async def add(self, text: str, session: str = "") -> MemoryItemAnswer:
        """Remember a text of the owner, said in this conversation. Raises InvalidRequest."""

    def add_files(self, path: str) -> AsyncIterator[FilesAnswer]:
        """Index a file or a folder by sections and watch it; yield the progress after each file.

        Raises NotFound, InvalidRequest.
        """


class FactControl(Protocol):
    """Lists and changes facts and goals."""

    async def facts(self, criteria: FactsQuery) -> FactsAnswer:
        """Return the matching facts with their evidence and contradictions."""

    async def settle(self, id: str, action: FactAction, right: str = "") -> SettledFactAnswer:
        """Change the fact whose id starts so; `right` is the correct statement. Raises NotFound, InvalidRequest."""

    async def goals(self, *, closed: bool) -> GoalsAnswer:
        """Return the goals with their notes; with `closed` also those that are done or dropped."""

    async def set_goal(self, change: SetGoalRequest) -> GoalAnswer:
        """Add or change a goal. Raises InvalidRequest, NotFound."""


class UpkeepControl(Protocol):
    """Forgets, trusts, prunes, exports and imports memories."""

    async def forget(self, request: ForgetRequest) -> ForgottenAnswer:
        """Erase the matching items for good, with `said` also the conversation, or preview it.

        Raises InvalidRequest if nothing limits the request, NotFound.
        """

    async def trust(self, source: str, *, undo: bool = False) -> TrustedAnswer:
        """Set whether a source's current items count as the owner's own words. Raises InvalidRequest."""

    async def prune(self) -> DeletedAnswer:
        """Delete expired and surplus items."""

    async def reset(self, layer: str) -> DeletedAnswer:
        """Empty a layer, the working notes (`working_memory`), or `all`. Raises InvalidRequest."""

    def export(self) -> AsyncIterator[str]:
        """Yield every item with its fact or goal as a line of JSON, oldest first, in a stable order."""

    def import_items(self, lines: Iterable[str]) -> AsyncIterator[ImportedAnswer]:
        """Import exported items, each once; yield the progress. Only the owner's own words are trusted.

        Raises InvalidRequest for an invalid line, before anything is stored.
        """


class StatusControl(Protocol):
    """Reports the state of memory."""

    async def status(self) -> MemoryStatusAnswer:
        """Return layers and totals, with KafClaw's fields and colours."""

    async def counts(self) -> MemoryCounts:
        """Return the figures."""


class MemoryControls(NamedTuple):
    """The parts of memory's API."""

    items: ItemControl
    facts: FactControl
    upkeep: UpkeepControl
    status: StatusControl
    embedding: EmbeddingControl


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

    async def data(self, repo: str, path: str) -> bytes:
        """Return the bytes of a file. Raises InvalidRequest if it is too large."""

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
