"""Deleting, overwriting and moving files other than the workspace's own build output."""

import re
from collections.abc import Iterator

from hob.core.translation.language import translatable
from hob.guard.shell.arguments import ANY, STAR, after_options, display, has_option, operands, option_values
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding
from hob.guard.shell.outputs import find_paths
from hob.guard.shell.places import CRITICAL_PLACES, HARMLESS_PLACES, ShellPlace


def remove(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `rm`, `unlink` and `rmdir`."""
    args = rule_input.args
    deep = has_option(args, "rR", "--recursive") and rule_input.name == "rm"
    if "--no-preserve-root" in args:
        yield rule_input.refuse("system-deletion", "it asks for the root of the file system to be deleted")
    targets = operands(args)
    if rule_input.name == "rm" and any(ANY in arg for arg in args):  # an unknown argument may be an option
        deep = deep or any(arg == ANY for arg in args)
    for target in targets:
        yield from judge_deletion(rule_input, target, deep)


def judge_deletion(rule_input: RuleInput, target: str, deep: bool) -> Iterator[ShellFinding]:
    """Judge the deletion of one path, including everything below it if `deep`."""
    place = rule_input.place(target)
    many = target.rstrip("/").endswith(STAR)
    if place in CRITICAL_PLACES and (deep or many):
        yield rule_input.refuse("system-deletion", translatable("it deletes {place}", place=place.value))
    elif place is ShellPlace.DEVICE:
        yield rule_input.refuse("device-destruction", translatable("it deletes {place}", place=place.value))
    elif place is ShellPlace.HISTORY:
        yield rule_input.ask("vcs-deletion", translatable("it deletes {place}", place=place.value))
    elif place in (ShellPlace.BUILT, ShellPlace.TEMPORARY, ShellPlace.STREAM) or (
        place is ShellPlace.INSIDE and not deep and not (many and target.rpartition("/")[2] == STAR)
    ):
        return
    elif rule_input.name != "rmdir" or place not in HARMLESS_PLACES:
        yield rule_input.ask(
            "deletion", translatable("it deletes {path}, {place}", path=repr(display(target)), place=place.value)
        )


def shred(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge overwriting files beyond recovery."""
    for target in operands(rule_input.args, ("-n", "-s", "--iterations", "--size", "--random-source")):
        if rule_input.place(target) is ShellPlace.DEVICE:
            yield rule_input.refuse("device-destruction", "it overwrites a device")
        elif rule_input.place(target) in CRITICAL_PLACES:
            yield rule_input.refuse("system-deletion", "it destroys what belongs to the system")
        else:
            yield rule_input.ask("deletion", "what it overwrites cannot be brought back")


def truncate(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge truncating files."""
    for target in operands(rule_input.args, ("-s", "-r", "--size", "--reference")):
        yield from judge_truncation(rule_input, target)


def judge_truncation(rule_input: RuleInput, target: str) -> Iterator[ShellFinding]:
    """Judge emptying a file."""
    place = rule_input.place(target)
    if place is ShellPlace.DEVICE:
        yield rule_input.refuse("device-destruction", "it overwrites a device")
    elif place not in (ShellPlace.BUILT, ShellPlace.TEMPORARY, ShellPlace.STREAM):
        yield rule_input.ask("deletion", translatable("it empties {path}", path=repr(display(target))))


def find(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `find -delete`, and the files that `find` writes."""
    args = rule_input.args
    if "-delete" in args:
        for path in find_paths(args):
            yield from judge_deletion(rule_input, path, True)
    for target in option_values(args, "-fprint", "-fprint0", "-fls", "-fprintf"):
        yield from judge_write(rule_input, target)


def move(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `mv`: the sources and the target."""
    paths = operands(rule_input.args, ("-S", "-t", "--suffix", "--target-directory"))
    into = list(option_values(rule_input.args, "-t", "--target-directory"))
    target = into[0] if into else paths[-1] if paths else ""
    if target in ("/dev/null", "/dev/zero"):
        yield rule_input.ask("deletion", "it moves files to where they are lost")
    for source in paths if into else paths[:-1]:
        place = rule_input.place(source)
        if place in CRITICAL_PLACES:
            yield rule_input.refuse("system-deletion", translatable("it moves away {place}", place=place.value))
        elif place in (ShellPlace.WORKSPACE, ShellPlace.HISTORY, ShellPlace.UNKNOWN, ShellPlace.OUTSIDE):
            yield rule_input.ask(
                "deletion", translatable("it moves away {path}, {place}", path=repr(display(source)), place=place.value)
            )
        elif (
            place is ShellPlace.INSIDE
            and target
            and rule_input.place(target) in (ShellPlace.TEMPORARY, ShellPlace.STREAM)
        ):
            yield rule_input.ask("deletion", "it moves files to where they are lost")  # each command has its own /tmp
    if target:
        yield from judge_write(rule_input, target)


def copy(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge the target of `cp`, `ln` and `install`."""
    paths = operands(rule_input.args, ("-S", "-t", "-m", "-o", "-g", "--suffix", "--target-directory", "--mode"))
    into = list(option_values(rule_input.args, "-t", "--target-directory"))
    target = into[0] if into else paths[-1] if len(paths) > 1 else ""
    if not target:
        return
    if paths[0] in ("/dev/null",):
        yield from judge_truncation(rule_input, target)
    yield from judge_write(rule_input, target)


def rsync(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `rsync --delete` and its variants."""
    paths = operands(
        rule_input.args, ("-e", "--rsh", "--exclude", "--include", "--filter", "-f", "--bwlimit", "--rsync-path")
    )
    if not paths:
        return
    target = paths[-1]
    local = ":" not in target
    if has_option(rule_input.args, "", "--remove-source-files") or any(
        arg.startswith("--delete") for arg in rule_input.args
    ):
        place = rule_input.place(target) if local else ShellPlace.OUTSIDE
        if place in CRITICAL_PLACES:
            yield rule_input.refuse("system-deletion", translatable("it deletes what is in {place}", place=place.value))
        elif place not in (ShellPlace.BUILT, ShellPlace.TEMPORARY):
            yield rule_input.ask("deletion", translatable("it deletes files in {path}", path=repr(display(target))))
    elif local:
        yield from judge_write(rule_input, target)


def unpack(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge where archives are unpacked, and whether the packed files are deleted."""
    args = rule_input.args
    if has_option(args, "", "--remove-files"):
        yield rule_input.ask("deletion", "it deletes the files that it packs")
    if has_option(args, "P", "--absolute-names") and has_option(args[:1], "x", "--extract"):
        yield rule_input.ask("overwriting", "it unpacks files to wherever the archive says")
    for target in option_values(args, "-C", "--directory", "-d"):
        yield from judge_write(rule_input, target)


def tee(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge the files that `tee` writes."""
    reads = [target for operator, target, descriptor in rule_input.command.redirections if operator == "<"]
    nothing = reads[-1:] == ["/dev/null"] or (not reads and rule_input.command.stdin == "")
    for target in operands(rule_input.args):
        yield from judge_write(rule_input, target)
        if nothing and not has_option(rule_input.args, "a", "--append"):
            yield from judge_truncation(rule_input, target)


def dd(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `dd of=`."""
    for arg in rule_input.args:
        key, _, value = arg.partition("=")
        if key == "of" and value:
            yield from judge_write(rule_input, value)
            if not _EMPTY_SOURCES.isdisjoint(rule_input.args):
                yield from judge_truncation(rule_input, value)
        elif key == "if" and rule_input.place(value) is ShellPlace.DEVICE:
            yield rule_input.ask("secret-reading", "it reads a device past all permissions")


def edit(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `sed -i` with a program that leaves nothing."""
    args = rule_input.args
    if not (has_option(args, "i", "--in-place") or any(arg.startswith("--in-place=") for arg in args)):
        return
    given = [*option_values(args, "-e", "--expression")]
    files = operands(args, ("-e", "--expression", "-f", "--file", "-l", "--line-length"))
    if any(_LEAVES_NOTHING.fullmatch(program) for program in given or files[:1]):
        for target in files if given else files[1:]:
            yield from judge_truncation(rule_input, target)


def judge_write(rule_input: RuleInput, target: str) -> Iterator[ShellFinding]:
    """Judge writing a file."""
    place = rule_input.place(target)
    path = rule_input.resolve(target)
    if place is ShellPlace.DEVICE:
        yield rule_input.refuse(
            "device-destruction", translatable("it writes onto the device {path}", path=display(target))
        )
    elif place is ShellPlace.KERNEL:
        yield rule_input.refuse(
            "system-control", translatable("it changes the running system through {path}", path=display(target))
        )
    elif place is ShellPlace.HISTORY:
        yield rule_input.ask("persistence", "it writes version control's own files")
    elif any(part in path for part in _STARTED):
        yield rule_input.ask(
            "persistence", translatable("what it writes to {path} is run later, by itself", path=repr(display(target)))
        )
    elif place not in HARMLESS_PLACES and place is not ShellPlace.WORKSPACE:
        yield rule_input.ask(
            "overwriting", translatable("it writes to {path}, {place}", path=repr(display(target)), place=place.value)
        )


def judge_redirections(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge the redirections of any command."""
    command = rule_input.command
    for operator, target, descriptor in command.redirections:
        if operator in ("<<", "<<-", "<<<", "<"):
            continue
        if operator in (">&", "<&") and (target.rstrip("-").isdigit() or target == "-"):
            continue
        if operator == "<>" or target.startswith(("/dev/tcp/", "/dev/udp/")):
            continue  # left to the network rules
        yield from judge_write(rule_input, target)
        bare = not command.argv and command.text[:1] in "012>&"  # a block's text begins otherwise
        silent = bare or command.name in (":", "true", "false") or command.argv == ("cat", "/dev/null")
        if operator in (">", ">|") and silent and descriptor in ("", "1"):
            yield from judge_truncation(rule_input, target)


def drop(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge dropping databases."""
    if rule_input.name != "redis-cli" or any(
        arg.lower() in ("flushall", "flushdb", "shutdown") for arg in rule_input.args
    ):
        yield rule_input.ask("deletion", "it deletes a database")


def container(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `docker` and `podman`: deletions, and access to the host."""
    rest = after_options(rule_input.args, ("-H", "--host", "-c", "--context", "--config", "--log-level"))
    words = [arg for arg in rest[:4] if not arg.startswith("-")]
    if set(words[:2]) & {"rm", "rmi", "prune", "kill"} or (
        "down" in words[:3] and has_option(rest, "v", "--volumes", "--rmi")
    ):
        yield rule_input.ask("deletion", "it deletes containers, images or volumes")
    if words[:1] in (["push"], ["login"]):
        yield rule_input.ask("sending", "it sends to a registry")
    bound = [*option_values(rest, "-v", "--volume", "--mount")]
    mounts = any(
        display(each).split(":")[0] in ("/", "/etc", "/root", "/home", "/var/run/docker.sock") for each in bound
    )
    mounts = mounts or any("src=/," in each or "source=/," in each or "docker.sock" in each for each in bound)
    if mounts or any(
        arg.startswith(("--privileged", "--cap-add", "--device", "--pid=host", "--security-opt")) for arg in rest
    ):
        yield rule_input.ask("escalation", "the container reaches out of itself")


_EMPTY_SOURCES = frozenset({"if=/dev/null", "if=/dev/zero"})
_LEAVES_NOTHING = re.compile(r"(?:1,\$)?\s*d\s*;?|1?\s*[qQ]")
_STARTED = (
    "/.bashrc", "/.bash_profile", "/.profile", "/.bash_login", "/.bash_logout", "/.zshrc", "/.zshenv", "/.zprofile",
    "/.config/fish/", "/.config/autostart", "/.config/systemd", "/LaunchAgents", "/LaunchDaemons", "/etc/cron",
    "/etc/profile", "/etc/systemd", "/etc/init", "/var/spool/cron", "/.git/hooks", "/.gitconfig", "/.config/git/",
    "/.ssh/", "/.vimrc", "/.config/nvim", "/.pam_environment", "/.xinitrc", "/.xprofile", "/etc/ld.so", "/.envrc",
    "/.pythonrc", "/site-packages/sitecustomize", ".pth", "/.npmrc", "/.pip/", "/.config/pip",
)  # fmt: skip

RULES: Rules = {
    "rm": remove,
    "unlink": remove,
    "rmdir": remove,
    "srm": shred,
    "shred": shred,
    "wipe": shred,
    "truncate": truncate,
    "find": find,
    "gfind": find,
    "mv": move,
    "cp": copy,
    "ln": copy,
    "install": copy,
    "rsync": rsync,
    "tar": unpack,
    "unzip": unpack,
    "bsdtar": unpack,
    "tee": tee,
    "sponge": tee,
    **dict.fromkeys(("sed", "gsed"), edit),
    "dd": dd,
    "dcfldd": dd,
    "dropdb": drop,
    "redis-cli": drop,
    "docker": container,
    "podman": container,
    "nerdctl": container,
}
