"""Version control: irrecoverable changes, and settings that run commands."""

import re
from collections.abc import Callable, Iterator

from hob.core.tools import Effect
from hob.guard.shell.arguments import Args, after_options, has_option, is_known, operands, option_values
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding
from hob.guard.shell.rules.network import SENDS, find_host

_GLOBAL = ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path")
_FETCHES = frozenset({"clone", "fetch", "pull", "push", "ls-remote", "submodule", "remote", "send-email", "lfs"})
_SETTINGS = re.compile(
    r"core\.(hookspath|worktree|sshcommand|fsmonitor|askpass|gitproxy)|include\.path|includeif\..*|init\.templatedir|"
    r"protocol\..*|credential\..*|url\..*|http\..*(proxy|sslverify)|alias\..*|uploadpack\..*|(filter|diff|merge)\..*\..*",
    re.IGNORECASE,
)
_Lost = Callable[[Args], str]


def _push(args: Args) -> str:
    names = operands(args, ("-o", "--push-option", "--repo", "--receive-pack"))
    if has_option(
        args, "fd", "--force", "--force-with-lease", "--mirror", "--delete", "--prune", "--force-if-includes"
    ):
        return "it overwrites or deletes what is in the other repository"
    if any(name.startswith(("+", ":")) for name in names[1:]):
        return "it overwrites or deletes what is in the other repository"
    return ""


def _clean(args: Args) -> str:
    return "" if has_option(args, "n", "--dry-run") else "it deletes files that are in no history"


def _reset(args: Args) -> str:
    return "changes that were not committed are lost" if has_option(args, "", "--hard", "--merge") else ""


def _checkout(args: Args) -> str:
    paths = "--" in args and args[-1] != "--"
    if (
        paths
        or has_option(args, "f", "--force", "--ours", "--theirs")
        or "." in args
        or any(arg.startswith(":") for arg in args)
    ):
        return "changes that were not committed are lost"
    return ""


def _restore(args: Args) -> str:
    staged = has_option(args, "S", "--staged") and not has_option(args, "W", "--worktree")
    return "" if staged else "changes that were not committed are lost"


def _branch(args: Args) -> str:
    if has_option(args, "D") or (has_option(args, "df", "--delete") and has_option(args, "f", "--force")):
        return "commits that are in no other branch are lost"
    return ""


def _worktree(args: Args) -> str:
    return (
        "a working tree is deleted with its changes"
        if args[:1] == ("remove",) and has_option(args, "f", "--force")
        else ""
    )


def _remove(args: Args) -> str:
    return (
        "files are deleted"
        if has_option(args, "rf", "--force") and not has_option(args, "n", "--cached", "--dry-run")
        else ""
    )


def _when(*words: str) -> _Lost:
    return lambda args: "what it deletes cannot be brought back" if set(args) & set(words) else ""


def _always(_: Args) -> str:
    return "it rewrites or deletes history"


_LOST: dict[str, _Lost] = {
    "push": _push,
    "clean": _clean,
    "reset": _reset,
    "checkout": _checkout,
    "restore": _restore,
    "branch": _branch,
    "worktree": _worktree,
    "rm": _remove,
    "stash": _when("drop", "clear"),
    "reflog": _when("expire", "delete"),
    "filter-branch": _always,
    "filter-repo": _always,
    "update-ref": _when("-d", "--delete"),
    "gc": lambda args: (
        "what it deletes cannot be brought back" if any(arg.startswith("--prune") for arg in args) else ""
    ),
    "prune": _always,
    "tag": _when("-d", "--delete"),
    "switch": lambda args: (
        "changes that were not committed are lost" if has_option(args, "fC", "--force", "--discard-changes") else ""
    ),
    "submodule": lambda args: (
        "changes are lost" if args[:1] == ("deinit",) and has_option(args, "f", "--force") else ""
    ),
    "replace": _always,
    "read-tree": lambda args: "changes are lost" if "--reset" in args else "",
    "checkout-index": lambda args: "changes are lost" if has_option(args, "f", "--force") else "",
    "lfs": _when("prune"),
    "notes": _when("prune"),
}


def git(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `git`."""
    args = rule_input.args
    rest = after_options(args, _GLOBAL)
    action, more = rest[0] if rest else "", rest[1:]
    if action and not is_known(action):
        yield rule_input.ask("unknown-command", "which part of git it is is not known")
    lost = _LOST.get(action)
    if lost is not None and (reason := lost(more)):
        yield rule_input.ask("vcs-deletion", reason)
    settings = [text.partition("=")[0] for text in option_values(args[: len(args) - len(rest)], "-c", "--config-env")]
    if action == "config":
        named = operands(more, ("-f", "--file", "--type", "--default"))
        if has_option(more, "", "--global", "--system") and (
            len(named) > 1 or has_option(more, "e", "--unset", "--edit")
        ):
            yield rule_input.ask("persistence", "it changes git's settings for all repositories")
        settings += named[:1] if len(named) > 1 else []
    if any(_SETTINGS.fullmatch(key) for key in settings):
        yield rule_input.ask("hidden-command", "a setting of git makes it run something or go somewhere else")
    if action == "credential":
        yield rule_input.ask("secret-reading", "it prints stored passwords")
    if action == "push" and any(find_host(arg) for arg in more):
        yield rule_input.ask("sending", "it sends history to an address that is not a remote of the repository", SENDS)
    if action == "send-email":
        yield rule_input.ask("sending", "it sends mail", SENDS)
    elif action in _FETCHES and not (
        action in ("remote", "submodule", "lfs") and more[:1] not in (("update",), ("push",), ("pull",))
    ):
        hosts = tuple(host for arg in more if (host := find_host(arg)))
        yield rule_input.note(
            "network", f"git {action} talks to another computer", frozenset({Effect.COMMUNICATES}), hosts
        )


def other(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge Mercurial, Subversion, Jujutsu and others."""
    words = set(rule_input.args)
    lost = {"strip", "purge", "rollback", "--clean", "-C", "--force", "abandon", "delete", "rm", "obliterate", "prune"}
    if words & lost or ("revert" in words and words & {"-R", "--all", "-a", "--recursive", "."}):
        yield rule_input.ask("vcs-deletion", "changes or history are lost")
    elif words & {"push", "pull", "clone", "commit", "checkout", "update"} and (
        rule_input.name == "svn" or words & {"push", "pull", "clone"}
    ):
        yield rule_input.note("network", "it talks to another computer", frozenset({Effect.COMMUNICATES}))


RULES: Rules = {"git": git, **dict.fromkeys(("hg", "svn", "jj", "bzr", "fossil", "darcs"), other)}
