"""The owner's repositories below `/api/v1/repo`: browse, commit, pull, push."""

from typing import Any

from starlette.responses import Response

from hob.core.content.repository_files import FileAnswer
from hob.core.errors import InvalidRequest, NotFound
from hob.core.ids import digest
from hob.core.translation.language import translatable
from hob.core.trust.scopes import TokenScope
from hob.core.values import dataclass
from hob.gateway.dashboard.endpoint_names import own
from hob.gateway.dashboard.media import file_response
from hob.gateway.http.endpoint import EndpointCall
from hob.gateway.http.failures import HttpRefusal
from hob.gateway.http.fields import Nothing, field
from hob.gateway.http.reply import JsonResponse, etagged, json_response
from hob.gateway.lazy_ports import Repositories
from hob.gateway.repositories import (
    REPOS,
    WHICH,
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


@dataclass(frozen=True, slots=True)
class RepoQuery:
    """Selects a repository."""

    repo: str = field(WHICH, "work", one_of=REPOS)


@dataclass(frozen=True, slots=True)
class SetWorkRepoRequest:
    """The new work repository."""

    path: str = field("a folder on this machine", characters=(1, 1000))


@dataclass(frozen=True, slots=True)
class RepoPath(RepoQuery):
    """Selects a path in a repository."""

    path: str = field("a path in it; without one all of it", "")


@dataclass(frozen=True, slots=True)
class RepoSearch(RepoQuery):
    """A search in repositories."""

    text: str = field("a text that stands in files, capitals or not", "", characters=(0, 200))


@dataclass(frozen=True, slots=True)
class RepoLog(RepoPath):
    """Selects commits."""

    limit: int = field("at most so many", 20, at_least=1, at_most=500)


@dataclass(frozen=True, slots=True)
class RepoDiff(RepoPath):
    """Selects changes."""

    commit: str = field("those of this commit; without it what was changed since the last one", "")


@dataclass(frozen=True, slots=True)
class RepoCheckout(RepoQuery):
    """The branch to check out."""

    branch: str = field("a branch", "", characters=(0, 250))
    create: bool = field("begin it here", False)


@dataclass(frozen=True, slots=True)
class RepoCommit(RepoQuery):
    """The commit to make."""

    message: str = field("what was changed, and why", "")
    paths: list[str] = field("these alone; without them all that was changed", ())
    reviewed: dict[str, Any] | None = field(
        "the `version` of each diff that was shown, by path; if one is another now, nothing is committed", None
    )


@dataclass(frozen=True, slots=True)
class RepoInit(RepoQuery):
    """The folder to initialize."""

    remote_url: str = field("the address of its remote", "")


def _repos(call: EndpointCall[Any]) -> Repositories:
    return call.api.port(Repositories)


async def work_repo(call: EndpointCall[Nothing]) -> JsonResponse[WorkRepoAnswer]:
    """Return the folder that tools work in."""
    return etagged(call.request, _repos(call).place("work"))


async def set_work_repo(call: EndpointCall[SetWorkRepoRequest]) -> JsonResponse[WorkRepoAnswer]:
    """Set the folder that tools work in (`workspace.work_repo`). It is created when needed."""
    await call.api.operations.change_settings({"workspace.work_repo": call.payload.path}, call.caller.by)
    return json_response({"path": call.payload.path})


async def tree(call: EndpointCall[RepoPath]) -> JsonResponse[TreeAnswer]:
    """List a folder, subfolders first."""
    return etagged(call.request, await _repos(call).tree(call.payload.repo, call.payload.path))


async def file(call: EndpointCall[RepoPath]) -> JsonResponse[FileAnswer]:
    """Return a text file; only the beginning of a long one."""
    return etagged(call.request, await _repos(call).file(call.payload.repo, call.payload.path))


async def raw(call: EndpointCall[RepoPath]) -> Response:
    """Return the bytes of a file, or the part that `Range` selects."""
    data = await _repos(call).data(call.payload.repo, call.payload.path)
    return file_response(call, data, digest(data))


async def status(call: EndpointCall[RepoQuery]) -> JsonResponse[RepoStatusAnswer]:
    """Return the branch, its distance from the remote, and the uncommitted changes."""
    return etagged(call.request, await _repos(call).status(call.payload.repo))


async def search(call: EndpointCall[RepoSearch]) -> JsonResponse[RepoSearchAnswer]:
    """Search for repositories below the folder, and for lines of files that contain the text."""
    return etagged(call.request, await _repos(call).search(call.payload.repo, call.payload.text))


async def gh_auth(call: EndpointCall[Nothing]) -> JsonResponse[GitHubAnswer]:
    """Report whether GitHub's `gh` is installed and signed in: `ok`, `signed_out` or `missing`."""
    return json_response(await _repos(call).github())


async def branches(call: EndpointCall[RepoQuery]) -> JsonResponse[BranchesAnswer]:
    """List the branches."""
    return etagged(call.request, await _repos(call).branches(call.payload.repo))


async def log(call: EndpointCall[RepoLog]) -> JsonResponse[LogAnswer]:
    """List the newest commits, optionally of one path."""
    payload = call.payload
    return etagged(call.request, await _repos(call).log(payload.repo, payload.limit, payload.path))


async def diff(call: EndpointCall[RepoDiff]) -> JsonResponse[DiffAnswer]:
    """Return the changes as a git diff."""
    payload = call.payload
    return etagged(call.request, await _repos(call).diff(payload.repo, commit=payload.commit, path=payload.path))


async def diff_file(call: EndpointCall[RepoDiff]) -> JsonResponse[DiffAnswer]:
    """Return the diff of one file; a new file is shown whole."""
    if not call.payload.path:
        raise InvalidRequest("path is missing")
    return await diff(call)


async def checkout(call: EndpointCall[RepoCheckout]) -> JsonResponse[RepoDoneAnswer]:
    """Check out a branch. git refuses if that would overwrite uncommitted changes."""
    payload = call.payload
    return json_response(await _repos(call).checkout(payload.repo, payload.branch, create=payload.create))


async def commit(call: EndpointCall[RepoCommit]) -> JsonResponse[RepoDoneAnswer]:
    """Commit changes, unless one of them is no longer what was `reviewed` (409, `outdated`)."""
    payload = call.payload
    for path, version in (payload.reviewed or {}).items():
        if await _version(_repos(call), payload.repo, path) != version:
            raise HttpRefusal("outdated", translatable("{path} is no longer what was shown; nothing was committed",
                                                       path=path), param=path)  # fmt: skip
    return json_response(await _repos(call).commit(payload.repo, payload.message, payload.paths))


async def _version(repos: Repositories, repo: str, path: str) -> str:
    try:
        return (await repos.diff(repo, commit="", path=path))["version"]
    except NotFound:  # a new file that is gone again
        return ""


async def pull(call: EndpointCall[RepoQuery]) -> JsonResponse[RepoDoneAnswer]:
    """Pull from the remote branch. Fast-forward only."""
    return json_response(await _repos(call).pull(call.payload.repo))


async def push(call: EndpointCall[RepoQuery]) -> JsonResponse[RepoDoneAnswer]:
    """Push the branch to the remote `origin`."""
    return json_response(await _repos(call).push(call.payload.repo))


async def init(call: EndpointCall[RepoInit]) -> JsonResponse[RepoDoneAnswer]:
    """Initialize a repository in the folder, and set its remote."""
    return json_response(await _repos(call).init(call.payload.repo, call.payload.remote_url))


async def pull_request(call: EndpointCall[RepoPullRequest]) -> JsonResponse[RepoDoneAnswer]:
    """Open a pull request with GitHub's `gh`."""
    return json_response(await _repos(call).pull_request(call.payload))


READ, ADMIN = TokenScope.READ, TokenScope.ADMIN
_MISSING = ("not_found",)
ENDPOINTS = (
    own("GET", "/workrepo", work_repo, READ, errors=_MISSING),
    own("POST", "/workrepo", set_work_repo, ADMIN, SetWorkRepoRequest),
    own("GET", "/repo/tree", tree, READ, RepoPath, errors=_MISSING),
    own("GET", "/repo/file", file, READ, RepoPath, errors=_MISSING),
    own("GET", "/repo/raw", raw, READ, RepoPath, errors=("not_found",), media=("application/octet-stream",)),
    own("GET", "/repo/status", status, READ, RepoQuery, errors=_MISSING),
    own("GET", "/repo/search", search, READ, RepoSearch, errors=_MISSING),
    own("GET", "/repo/gh-auth", gh_auth, READ, errors=_MISSING),
    own("GET", "/repo/branches", branches, READ, RepoQuery, errors=_MISSING),
    own("GET", "/repo/log", log, READ, RepoLog, errors=_MISSING),
    own("GET", "/repo/diff", diff, READ, RepoDiff, errors=_MISSING),
    own("GET", "/repo/diff-file", diff_file, READ, RepoDiff, errors=_MISSING),
    own("POST", "/repo/checkout", checkout, ADMIN, RepoCheckout, errors=_MISSING, changes="repository"),
    own("POST", "/repo/commit", commit, ADMIN, RepoCommit, errors=(*_MISSING, "outdated"), changes="repository"),
    own("POST", "/repo/pull", pull, ADMIN, RepoQuery, errors=_MISSING, changes="repository"),
    own("POST", "/repo/push", push, ADMIN, RepoQuery, errors=_MISSING, changes="repository"),
    own("POST", "/repo/init", init, ADMIN, RepoInit, errors=_MISSING, changes="repository"),
    own("POST", "/repo/pr", pull_request, ADMIN, RepoPullRequest, errors=_MISSING, changes="repository"),
)
