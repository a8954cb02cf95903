"""The owner's repositories with the real git: browsed and changed, without ever running their content."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hob.app.repositories.repositories import OwnerRepositories
from hob.config.environment import process_environment
from hob.core.errors import InvalidRequest, NotFound
from hob.gateway.repositories import RepoPullRequest
from hob.workspace.repositories import begin_repository


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "plan.md").write_text("# Plan\n\nFind the *Garden*.\n")
    (folder / "äpfel.txt").write_text("rot\n")
    (tmp_path / "outside.txt").write_text("a secret")
    begin_repository(folder, ["notes/plan.md", "äpfel.txt"])
    return folder


@pytest.fixture
def repos(work: Path) -> OwnerRepositories:
    environ = {**process_environment(), "HOME": str(work.parent)}
    return OwnerRepositories({"work": lambda: work, "identity": lambda: work.parent / "none"}, environ)


async def test_tree_lists_folders_first_without_the_git_folder(repos: OwnerRepositories) -> None:
    rows = (await repos.tree("work", ""))["rows"]
    assert [(row["name"], row["type"]) for row in rows] == [("notes", "folder"), ("äpfel.txt", "file")]
    assert [row["path"] for row in (await repos.tree("work", "notes"))["rows"]] == ["notes/plan.md"]


@pytest.mark.parametrize(
    "path", ["../outside.txt", "/etc/passwd", "notes/../../outside.txt", ".git/config", "a\0b", ".GIT/config", "there"]
)
async def test_path_out_of_the_repository_is_refused(repos: OwnerRepositories, path: str) -> None:
    for look in (repos.file, repos.data, repos.tree):
        with pytest.raises(NotFound):
            await look("work", path)
    for commit in ("", "HEAD"):
        with pytest.raises((NotFound, InvalidRequest)):
            await repos.diff("work", commit=commit, path=path)


async def test_link_out_of_the_repository_is_refused(repos: OwnerRepositories, work: Path) -> None:
    (work / "link").symlink_to(work.parent / "outside.txt")
    (work / "inner").symlink_to(work / ".git")
    for path in ("link", "inner/config"):
        for look in (repos.file, repos.data):
            with pytest.raises(NotFound):
                await look("work", path)


async def test_change_is_listed_committed_and_logged(repos: OwnerRepositories, work: Path) -> None:
    (work / "äpfel.txt").write_text("grün\n")
    (work / "neu und lang.md").write_text("new\n")
    changes = {row["path"]: row["state"] for row in (await repos.status("work"))["changes"]}
    assert changes == {"äpfel.txt": "changed", "neu und lang.md": "new"}
    assert "+grün" in (await repos.diff("work", commit="", path=""))["diff"]
    assert "+new" in (await repos.diff("work", commit="", path="neu und lang.md"))["diff"]
    done = await repos.commit("work", 'Say "grün"! (äpfel)\n\nWhy not.', ["äpfel.txt"])
    commits = (await repos.log("work", 20, ""))["commits"]
    assert [each["subject"] for each in commits] == ['Say "grün"! (äpfel)', "Begin"]
    assert "+grün" in (await repos.diff("work", commit=done["hash"], path=""))["diff"]
    assert [row["path"] for row in (await repos.status("work"))["changes"]] == ["neu und lang.md"]
    with pytest.raises(InvalidRequest):
        await repos.commit("work", "again", ["äpfel.txt"])


async def test_branch_is_created_and_left(repos: OwnerRepositories) -> None:
    first = (await repos.branches("work"))["current"]
    await repos.checkout("work", "feature/one", create=True)
    assert (await repos.branches("work")) == {"branches": sorted(["feature/one", first]), "current": "feature/one"}
    await repos.checkout("work", first, create=False)
    for name in ("--orphan", "a..b", "", "nowhere"):
        with pytest.raises(InvalidRequest):
            await repos.checkout("work", name, create=False)


def git(*arguments: str) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *arguments], check=True)


async def test_push_and_pull_use_the_remote(repos: OwnerRepositories, work: Path) -> None:
    remote, other = work.parent / "remote.git", work.parent / "other"
    git("init", "-q", "--bare", str(remote))
    await repos.init("work", str(remote))
    await repos.push("work")
    git("clone", "-q", str(remote), str(other))
    (other / "more.md").write_text("more")
    git("-C", str(other), "add", "-A")
    git("-C", str(other), "commit", "-qm", "More")
    git("-C", str(other), "push", "-q")
    await repos.pull("work")
    assert (work / "more.md").exists()
    assert (await repos.status("work"))["remote"].startswith("origin/")


async def test_push_and_pull_without_a_remote_are_refused(repos: OwnerRepositories) -> None:
    await repos.init("work", "")
    for act in (repos.push, repos.pull):
        with pytest.raises(InvalidRequest, match="this folder has no remote yet"):
            await act("work")


@pytest.mark.parametrize("address", ["--upload-pack=touch x", "ext::sh -c touch% x", "a b", 'a"b', "a\\b"])
async def test_remote_url_that_runs_a_command_is_refused(repos: OwnerRepositories, address: str) -> None:
    with pytest.raises(InvalidRequest):
        await repos.init("work", address)


@pytest.mark.parametrize(
    "setting", ["[core]\n\tfsmonitor = touch ran", '[filter "x"]\n\tclean = touch ran', "[include]\n\tpath = ../x"]
)
async def test_repository_whose_config_runs_a_command_is_refused(
    repos: OwnerRepositories, work: Path, setting: str
) -> None:
    with (work / ".git" / "config").open("a") as file:
        file.write(f"{setting}\n")
    with pytest.raises(InvalidRequest, match="may run programs"):
        await repos.status("work")
    assert not (work / "ran").exists()


async def test_git_hooks_do_not_run(repos: OwnerRepositories, work: Path) -> None:
    hook = work / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ntouch ran\n")
    hook.chmod(0o755)
    (work / "x.md").write_text("x")
    await repos.commit("work", "x", [])
    assert not (work / "ran").exists()


async def test_search_returns_matching_lines(repos: OwnerRepositories) -> None:
    found = await repos.search("work", "*garden*")
    assert found["matches"] == [{"path": "notes/plan.md", "line": 3, "text": "Find the *Garden*."}]
    assert found["repos"] == ["."]
    assert (await repos.search("work", "--open-files-in-pager=touch"))["matches"] == []


async def test_search_finds_files_by_their_names(repos: OwnerRepositories) -> None:
    assert (await repos.search("work", "PLAN"))["names"] == ["notes/plan.md"]
    assert (await repos.search("work", "p*n"))["names"] == []


async def test_search_with_too_many_matches_returns_the_first(repos: OwnerRepositories, work: Path) -> None:
    for number in range(700):
        (work / f"long-{number}.md").write_text(f"{'stone ' * 60}\n" * 10)
    assert len((await repos.search("work", "stone"))["matches"]) == 200


async def test_binary_file_is_reported_without_content(repos: OwnerRepositories, work: Path) -> None:
    (work / "x.bin").write_bytes(b"\0\1")
    told = await repos.file("work", "x.bin")
    assert (told["binary"], told["content"], told["size"]) == (True, "", 2)


async def test_pdf_counts_as_binary(repos: OwnerRepositories, work: Path) -> None:
    (work / "bill.pdf").write_bytes(b"%PDF-1.7\n%%EOF\n")
    assert (await repos.file("work", "bill.pdf"))["binary"]
    assert await repos.data("work", "bill.pdf") == b"%PDF-1.7\n%%EOF\n"


async def test_file_that_is_too_large_is_refused(repos: OwnerRepositories, work: Path) -> None:
    with (work / "film.bin").open("wb") as film:
        film.truncate(60_000_000)
    with pytest.raises(InvalidRequest, match="more than 50000000 bytes"):
        await repos.data("work", "film.bin")


async def test_repositories_up_to_two_levels_below_are_found(repos: OwnerRepositories, work: Path) -> None:
    for name in ("a/b", "a/b/c", "a/.hidden", "z"):
        (work / name / ".git").mkdir(parents=True)
    (work / "linked").symlink_to(work / "z")
    assert (await repos.search("work", ""))["repos"] == [".", "a/b", "z"]


async def test_folder_is_initialized_as_a_repository(repos: OwnerRepositories, work: Path) -> None:
    shutil.rmtree(work / ".git")
    assert (await repos.status("work"))["repository"] is False
    with pytest.raises(InvalidRequest, match="not a git repository"):
        await repos.log("work", 20, "")
    await repos.init("work", "")
    assert (await repos.status("work"))["repository"] is True


async def test_missing_folder_is_reported(repos: OwnerRepositories) -> None:
    with pytest.raises(NotFound, match="no folder"):
        await repos.tree("identity", "")


GH = """#!/bin/sh
echo "$*" >> "$HOME/gh.log"
case "$1" in
  auth) echo "Logged in to github.com as anna" ;;
  pr) cat >> "$HOME/gh.log"; echo https://github.com/anna/work/pull/1 ;;
esac
"""


async def test_pull_request_is_opened_by_gh(work: Path) -> None:
    program = work.parent / "bin" / "gh"
    program.parent.mkdir()
    program.write_text(GH)
    program.chmod(0o755)
    environ = {"HOME": str(work.parent), "PATH": f"{program.parent}:/usr/bin:/bin"}
    repos = OwnerRepositories({"work": lambda: work}, environ)
    assert (await repos.github())["status"] == "ok"
    asked = RepoPullRequest("A plan; $(touch x)", "Why not.", head="two", base="main")
    assert (await repos.pull_request(asked))["result"] == "https://github.com/anna/work/pull/1"
    told = (work.parent / "gh.log").read_text()
    assert "pr create --title=A plan; $(touch x) --body-file=- --base=main --head=two" in told
    assert told.endswith("Why not.")


async def test_pull_request_without_gh_is_refused_with_the_reason(work: Path) -> None:
    environ = {"HOME": str(work.parent), "PATH": "/usr/bin:/bin"}
    repos = OwnerRepositories({"work": lambda: work}, environ)
    told = await repos.github()
    assert told["status"] in {"missing", "signed_out"}
    with pytest.raises((NotFound, InvalidRequest)):
        await repos.pull_request(RepoPullRequest("title"))
