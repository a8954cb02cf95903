"""The owner's git repositories: files, changes, and the common commands."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hob.app.repositories.files import (
    find_repositories,
    inside,
    list_folder,
    read_bytes,
    read_text_file,
    resolve_inside,
)
from hob.app.repositories.opening import SEARCHED
from hob.core.content.repository_files import FileAnswer
from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import digest
from hob.core.translation.language import translatable
from hob.gateway.repositories import (
    BranchesAnswer,
    ChangeAnswer,
    DiffAnswer,
    GitHubAnswer,
    LogAnswer,
    MatchAnswer,
    RepoDoneAnswer,
    RepoPullRequest,
    RepoSearchAnswer,
    RepoStatusAnswer,
    TreeAnswer,
    WorkRepoAnswer,
)
from hob.tools.exec.git import NETWORK_SECONDS, Git, GitFailed, GitRunner
from hob.workspace.repositories import begin_repository

_MAX_LINES = 200
_MAX_NAMES = 20
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The id of git's empty tree, which exists in every repository."""
_COMMIT = re.compile(r"[0-9a-f]{4,64}")
_ADDRESS = re.compile(r"(?!-)(?!.*::)[^\s\x00-\x1f\"\\]{1,500}")
_HEAD = re.compile(r"## (?:No commits yet on )?(?P<branch>.+?)(?:\.\.\.(?P<remote>\S+))?(?: \[(?P<apart>.+)\])?")
_FIELDS = "%H%x1f%an%x1f%at%x1f%s%x1e"


class OwnerRepositories:
    """Implements the gateway's `Repositories`."""

    def __init__(self, folders: Mapping[str, Callable[[], Path]], environ: Mapping[str, str]) -> None:
        self._folders = folders
        self._programs = GitRunner(environ)

    def place(self, repo: str) -> WorkRepoAnswer:
        """Return the folder of the repository."""
        return {"path": str(self._root(repo))}

    async def tree(self, repo: str, path: str) -> TreeAnswer:
        """List a folder, subfolders first."""
        root = self._root(repo)
        return {"root": str(root), "path": path, "rows": await asyncio.to_thread(list_folder, root, path)}

    async def file(self, repo: str, path: str) -> FileAnswer:
        """Return the beginning of a text file."""
        return await asyncio.to_thread(read_text_file, self._root(repo), path)

    async def data(self, repo: str, path: str) -> bytes:
        """Return the bytes of a file."""
        return await asyncio.to_thread(read_bytes, self._root(repo), path)

    async def status(self, repo: str) -> RepoStatusAnswer:
        """Return the branch and the uncommitted changes."""
        root = self._root(repo)
        if not (root / ".git").exists():
            return {
                "root": str(root), "repository": False, "branch": "", "remote": "", "ahead": 0, "behind": 0,
                "changes": [],
            }  # fmt: skip
        said = await self._programs.git(
            root, "--no-optional-locks", "status", "--porcelain=v1", "-z", "--branch", "--untracked-files=all",
            "--ignore-submodules=all",
        )  # fmt: skip
        head, *rest = said.split("\0")
        found = _HEAD.fullmatch(head)
        apart = dict(_apart(found["apart"] or "" if found else ""))
        return {
            "root": str(root),
            "repository": True,
            "branch": found["branch"] if found else "",
            "remote": (found["remote"] or "") if found else "",
            "ahead": apart.get("ahead", 0),
            "behind": apart.get("behind", 0),
            "changes": _changes(rest),
        }

    async def search(self, repo: str, text: str) -> RepoSearchAnswer:
        """Search for repositories below the folder, and for files whose name or lines contain the text."""
        root = self._root(repo)
        others = repo == "work" and SEARCHED in self._folders and self._folders[SEARCHED]() != self._folders[repo]()
        below = self._root(SEARCHED) if others else root
        if not text:
            repos = await asyncio.to_thread(find_repositories, below)
            return {"root": str(below), "repos": repos, "matches": [], "names": []}

        def look(git: Git) -> RepoSearchAnswer:
            asked = ("grep", "-I", "-n", "-i", "-F", "-z", "--untracked", "--no-textconv", "-m", "20", "-e", text)
            said = git(*asked, fine=(0, 1), lines=_MAX_LINES)
            found = (line.split("\0", 2) for line in said.split("\n", _MAX_LINES)[:_MAX_LINES])
            matches: list[MatchAnswer] = [
                {"path": row[0], "line": int(row[1]), "text": row[2][:400]} for row in found if len(row) == 3
            ]
            listed = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--")
            names = [name for name in git(*listed, f":(icase)*{_literal(text)}*").split("\0") if name]
            repos = find_repositories(below)
            return {"root": str(below), "repos": repos, "matches": matches, "names": names[:_MAX_NAMES]}

        return await self._programs.git_each(root, look)

    async def branches(self, repo: str) -> BranchesAnswer:
        """List the branches, with the current one."""
        said = await self._programs.git(
            self._root(repo), "for-each-ref", "--format=%(HEAD)%(refname:short)", "refs/heads"
        )
        names = [line for line in said.split("\n") if line]
        current = next((name[1:] for name in names if name.startswith("*")), "")
        return {"branches": [name[1:] for name in names], "current": current}

    async def checkout(self, repo: str, branch: str, *, create: bool) -> RepoDoneAnswer:
        """Check out a branch."""
        root = self._root(repo)
        await self._check_branch(root, branch)
        said = await self._programs.git(root, "switch", *(("-c",) if create else ()), branch)
        return {"result": said.strip()}

    async def log(self, repo: str, limit: int, path: str) -> LogAnswer:
        """List the newest commits, optionally of one path."""
        root = self._root(repo)
        only = ("--", f":(literal){inside(path)}") if path else ()
        try:
            said = await self._programs.git(root, "log", f"-{limit}", f"--format={_FIELDS}", *only)
        except GitFailed as error:
            if "does not have any commits" not in str(error):
                raise
            said = ""
        rows = [each.strip("\n").split("\x1f") for each in said.split("\x1e") if each.strip()]
        return {
            "commits": [
                {"hash": row[0], "author": row[1], "at": float(row[2]), "subject": row[3]}
                for row in rows
                if len(row) == 4
            ]
        }

    async def diff(self, repo: str, *, commit: str, path: str) -> DiffAnswer:
        """Return the diff of a commit; without one, of the uncommitted changes."""
        root, only = self._root(repo), ("--", f":(literal){inside(path)}") if path else ()
        plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=all")
        if commit:
            if not _COMMIT.fullmatch(commit):
                raise InvalidRequest(translatable("{commit} is not a commit", commit=commit))
            return _difference(await self._programs.git(root, "show", *plain, "--format=", commit, *only))
        try:
            said = await self._programs.git(root, "diff", *plain, "HEAD", *only)
        except GitFailed:
            if await self._programs.git(root, "rev-parse", "-q", "--verify", "HEAD", fine=(0, 1)):
                raise
            said = await self._programs.git(root, "diff", *plain, _EMPTY_TREE, *only)  # no commit yet
        if path and not said:
            resolve_inside(root, path)
            asked = ("diff", *plain, "--no-index", "--", "/dev/null", path)
            listed = await self._programs.git(root, "ls-files", *only)
            said = "" if listed else await self._programs.git(root, *asked, fine=(0, 1))
        return _difference(said)

    async def commit(self, repo: str, message: str, paths: Sequence[str]) -> RepoDoneAnswer:
        """Commit all changes, or only those of these paths."""
        root = self._root(repo)
        if not message.strip():
            raise InvalidRequest(translatable("say in the message what was changed"))
        only = ("--", *(f":(literal){inside(path)}" for path in paths)) if paths else ()
        await self._programs.git(root, "add", "-A", *only)
        named = await self._programs.git(root, "config", "user.email", fine=(0, 1))
        author = () if named.strip() else ("-c", "user.name=Hob", "-c", "user.email=hob@localhost")
        said = await self._programs.git(root, *author, "commit", "-q", "-F", "-", *only, text=message)
        done = await self._programs.git(root, "rev-parse", "HEAD")
        return {"result": said.strip(), "hash": done.strip()}

    async def pull(self, repo: str) -> RepoDoneAnswer:
        """Pull from the remote branch. Fast-forward only."""
        root = await self._folder_with_remote(repo)
        said = await self._programs.git(root, "pull", "--ff-only", seconds=NETWORK_SECONDS)
        return {"result": said.strip()}

    async def push(self, repo: str) -> RepoDoneAnswer:
        """Push the branch to its remote."""
        root = await self._folder_with_remote(repo)
        said = await self._programs.git(root, "push", "--porcelain", "-u", "origin", "HEAD", seconds=NETWORK_SECONDS)
        return {"result": said.strip()}

    async def _folder_with_remote(self, repo: str) -> Path:
        """Return the folder. Raises InvalidRequest if the repository has no remote."""
        root = self._root(repo)
        if "origin" not in (await self._programs.git(root, "remote")).split():
            raise InvalidRequest(
                translatable("this folder has no remote yet; `git remote add origin ADDRESS` in it sets one")
            )
        return root

    async def init(self, repo: str, remote: str) -> RepoDoneAnswer:
        """Initialize a repository in the folder; set its remote if one is given."""
        root = self._root(repo)
        if remote and not _ADDRESS.fullmatch(remote):
            raise InvalidRequest(translatable("{address} is not the address of a repository", address=remote))
        begun = (root / ".git").exists() or await asyncio.to_thread(begin_repository, root)
        if not begun:
            raise NotFound(translatable("{program} is not installed here", program="git"))
        if remote:
            known = await self._programs.git(root, "remote")
            verb = "set-url" if "origin" in known.split() else "add"
            await self._programs.git(root, "remote", verb, "origin", remote)
        return {"result": str(root)}

    async def pull_request(self, pull_request: RepoPullRequest) -> RepoDoneAnswer:
        """Open a pull request with GitHub's `gh`."""
        root = self._root(pull_request.repo)
        for branch in filter(None, (pull_request.base, pull_request.head)):
            await self._check_branch(root, branch)
        await self._programs.git(root, "rev-parse", "HEAD")
        further = [
            f"--{name}={value}" for name, value in (("base", pull_request.base), ("head", pull_request.head)) if value
        ]
        said = await self._programs.run(
            root, "gh", "pr", "create", f"--title={pull_request.title}", "--body-file=-", *further,
            *(("--draft",) if pull_request.draft else ()), text=pull_request.body, seconds=NETWORK_SECONDS,
        )  # fmt: skip
        return {"result": said.strip()}

    async def github(self) -> GitHubAnswer:
        """Report whether GitHub's `gh` is installed and signed in."""
        try:
            said = await self._programs.run(self._root("work"), "gh", "auth", "status", fine=(0, 1))
        except NotFound as error:
            return {"status": "missing", "detail": str(error)}
        return {"status": "ok" if "Logged in" in said else "signed_out", "detail": said.strip()}

    def _root(self, repo: str) -> Path:
        root = self._folders[repo]().expanduser().resolve()
        if not root.is_dir():
            raise NotFound(translatable("there is no folder {folder} yet; the first tool that needs it makes it",
                                        folder=root))  # fmt: skip
        return root

    async def _check_branch(self, root: Path, branch: str) -> None:
        try:
            await self._programs.git(root, "check-ref-format", "--branch", branch)
        except GitFailed:
            raise InvalidRequest(translatable("{branch} is not the name of a branch", branch=branch)) from None


def _difference(text: str) -> DiffAnswer:
    return {"diff": text, "version": digest(text)}


def _literal(text: str) -> str:
    """Return a git path pattern that matches this text."""
    return re.sub(r"([\\*?\[])", r"\\\1", text)


def _changes(fields: Sequence[str]) -> list[ChangeAnswer]:
    """Parse `git status -z`: two letters and a path; a renamed path is followed by its old one.
    https://git-scm.com/docs/git-status
    """
    found: list[ChangeAnswer] = []
    rest = iter(fields)
    for field in rest:
        if len(field) > 3:
            letters = field[:2]
            before = next(rest, "") if letters[0] in "RC" else ""
            found.append({"path": field[3:], "state": _STATES.get(letters.strip()[:1], "changed"), "before": before})
    return found


_STATES = {"?": "new", "A": "new", "M": "changed", "D": "gone", "R": "renamed", "C": "new", "U": "conflict"}


def _apart(text: str) -> list[tuple[str, int]]:
    return [(word, int(count)) for word, count in re.findall(r"(ahead|behind) (\d+)", text)]
