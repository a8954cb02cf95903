"""Deleting, overwriting and moving away what is not the workspace's own output."""

import re
from collections.abc import Iterator

from hob.core.translation.language import translatable
from hob.guard.shell.arguments import ANY, STAR, after_options, has, operands, shown, values
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding
from hob.guard.shell.outputs import found_paths
from hob.guard.shell.places import OWN, TOO_MUCH, ShellPlace


def remove(scene: RuleInput) -> Iterator[ShellFinding]:
    """`rm`, `unlink`, `rmdir`."""
    args = scene.args
    deep = has(args, "rR", "--recursive") and scene.name == "rm"
    if "--no-preserve-root" in args:
        yield scene.refuse("system-deletion", "it asks for the root of the file system to be deleted")
    targets = operands(args)
    if scene.name == "rm" and any(ANY in arg for arg in args):  # an unknown argument may be the option, too
        deep = deep or any(arg == ANY for arg in args)
    for target in targets:
        yield from deletes(scene, target, deep)


def deletes(scene: RuleInput, target: str, deep: bool) -> Iterator[ShellFinding]:
    """One path is deleted, with all that is below where it goes `deep`."""
    place = scene.place(target)
    many = target.rstrip("/").endswith(STAR)
    if place in TOO_MUCH and (deep or many):
        yield scene.refuse("system-deletion", translatable("it deletes {place}", place=place.value))
    elif place is ShellPlace.DEVICE:
        yield scene.refuse("device-destruction", translatable("it deletes {place}", place=place.value))
    elif place is ShellPlace.HISTORY:
        yield scene.ask("vcs-deletion", translatable("it deletes {place}", place=place.value))
    elif place in (ShellPlace.BUILT, ShellPlace.TEMPORARY, ShellPlace.STREAM) or (
        place is ShellPlace.INSIDE and not deep and not (many and target.rpartition("/")[2] == STAR)
    ):
        return
    elif scene.name != "rmdir" or place not in OWN:
        yield scene.ask(
            "deletion", translatable("it deletes {path}, {place}", path=repr(shown(target)), place=place.value)
        )


def shred(scene: RuleInput) -> Iterator[ShellFinding]:
    """Overwriting files so that nothing can bring them back."""
    for target in operands(scene.args, ("-n", "-s", "--iterations", "--size", "--random-source")):
        if scene.place(target) is ShellPlace.DEVICE:
            yield scene.refuse("device-destruction", "it overwrites a device")
        elif scene.place(target) in TOO_MUCH:
            yield scene.refuse("system-deletion", "it destroys what belongs to the system")
        else:
            yield scene.ask("deletion", "what it overwrites cannot be brought back")


def truncate(scene: RuleInput) -> Iterator[ShellFinding]:
    """Cutting files off."""
    for target in operands(scene.args, ("-s", "-r", "--size", "--reference")):
        yield from empties(scene, target)


def empties(scene: RuleInput, target: str) -> Iterator[ShellFinding]:
    """A file loses its content."""
    place = scene.place(target)
    if place is ShellPlace.DEVICE:
        yield scene.refuse("device-destruction", "it overwrites a device")
    elif place not in (ShellPlace.BUILT, ShellPlace.TEMPORARY, ShellPlace.STREAM):
        yield scene.ask("deletion", translatable("it empties {path}", path=repr(shown(target))))


def find(scene: RuleInput) -> Iterator[ShellFinding]:
    """`find -delete`, and the files it writes."""
    args = scene.args
    if "-delete" in args:
        for path in found_paths(args):
            yield from deletes(scene, path, True)
    for target in values(args, "-fprint", "-fprint0", "-fls", "-fprintf"):
        yield from writes(scene, target)


def move(scene: RuleInput) -> Iterator[ShellFinding]:
    """`mv`: what is moved away, and where to."""
    paths = operands(scene.args, ("-S", "-t", "--suffix", "--target-directory"))
    into = list(values(scene.args, "-t", "--target-directory"))
    target = into[0] if into else paths[-1] if paths else ""
    if target in ("/dev/null", "/dev/zero"):
        yield scene.ask("deletion", "it moves files to where they are lost")
    for source in paths if into else paths[:-1]:
        place = scene.place(source)
        if place in TOO_MUCH:
            yield scene.refuse("system-deletion", translatable("it moves away {place}", place=place.value))
        elif place in (ShellPlace.WORKSPACE, ShellPlace.HISTORY, ShellPlace.UNKNOWN, ShellPlace.OUTSIDE):
            yield scene.ask(
                "deletion", translatable("it moves away {path}, {place}", path=repr(shown(source)), place=place.value)
            )
        elif place is ShellPlace.INSIDE and target and scene.place(target) in (ShellPlace.TEMPORARY, ShellPlace.STREAM):
            yield scene.ask("deletion", "it moves files to where they are lost")  # each command has a /tmp of its own
    if target:
        yield from writes(scene, target)


def copy(scene: RuleInput) -> Iterator[ShellFinding]:
    """`cp`, `ln`, `install`: where to."""
    paths = operands(scene.args, ("-S", "-t", "-m", "-o", "-g", "--suffix", "--target-directory", "--mode"))
    into = list(values(scene.args, "-t", "--target-directory"))
    target = into[0] if into else paths[-1] if len(paths) > 1 else ""
    if not target:
        return
    if paths[0] in ("/dev/null",):
        yield from empties(scene, target)
    yield from writes(scene, target)


def rsync(scene: RuleInput) -> Iterator[ShellFinding]:
    """`rsync --delete` and its kin."""
    paths = operands(
        scene.args, ("-e", "--rsh", "--exclude", "--include", "--filter", "-f", "--bwlimit", "--rsync-path")
    )
    if not paths:
        return
    target = paths[-1]
    local = ":" not in target
    if has(scene.args, "", "--remove-source-files") or any(arg.startswith("--delete") for arg in scene.args):
        place = scene.place(target) if local else ShellPlace.OUTSIDE
        if place in TOO_MUCH:
            yield scene.refuse("system-deletion", translatable("it deletes what is in {place}", place=place.value))
        elif place not in (ShellPlace.BUILT, ShellPlace.TEMPORARY):
            yield scene.ask("deletion", translatable("it deletes files in {path}", path=repr(shown(target))))
    elif local:
        yield from writes(scene, target)


def unpack(scene: RuleInput) -> Iterator[ShellFinding]:
    """Archives: where they are unpacked, and whether what was packed is deleted."""
    args = scene.args
    if has(args, "", "--remove-files"):
        yield scene.ask("deletion", "it deletes the files that it packs")
    if has(args, "P", "--absolute-names") and has(args[:1], "x", "--extract"):
        yield scene.ask("overwriting", "it unpacks files to wherever the archive says")
    for target in values(args, "-C", "--directory", "-d"):
        yield from writes(scene, target)


def tee(scene: RuleInput) -> Iterator[ShellFinding]:
    """Files that are written besides."""
    reads = [target for operator, target, descriptor in scene.command.redirections if operator == "<"]
    nothing = reads[-1:] == ["/dev/null"] or (not reads and scene.command.stdin == "")
    for target in operands(scene.args):
        yield from writes(scene, target)
        if nothing and not has(scene.args, "a", "--append"):
            yield from empties(scene, target)


def dd(scene: RuleInput) -> Iterator[ShellFinding]:
    """`dd of=`."""
    for arg in scene.args:
        key, _, value = arg.partition("=")
        if key == "of" and value:
            yield from writes(scene, value)
            if not _EMPTY_SOURCES.isdisjoint(scene.args):
                yield from empties(scene, value)
        elif key == "if" and scene.place(value) is ShellPlace.DEVICE:
            yield scene.ask("secret-reading", "it reads a device past all permissions")


def edit(scene: RuleInput) -> Iterator[ShellFinding]:
    """`sed -i` with a program that leaves nothing."""
    args = scene.args
    if not (has(args, "i", "--in-place") or any(arg.startswith("--in-place=") for arg in args)):
        return
    given = [*values(args, "-e", "--expression")]
    files = operands(args, ("-e", "--expression", "-f", "--file", "-l", "--line-length"))
    if any(_LEAVES_NOTHING.fullmatch(program) for program in given or files[:1]):
        for target in files if given else files[1:]:
            yield from empties(scene, target)


def writes(scene: RuleInput, target: str) -> Iterator[ShellFinding]:
    """A file is written."""
    place = scene.place(target)
    path = scene.resolve(target)
    if place is ShellPlace.DEVICE:
        yield scene.refuse("device-destruction", translatable("it writes onto the device {path}", path=shown(target)))
    elif place is ShellPlace.KERNEL:
        yield scene.refuse(
            "system-control", translatable("it changes the running system through {path}", path=shown(target))
        )
    elif place is ShellPlace.HISTORY:
        yield scene.ask("persistence", "it writes version control's own files")
    elif any(part in path for part in _STARTED):
        yield scene.ask(
            "persistence", translatable("what it writes to {path} is run later, by itself", path=repr(shown(target)))
        )
    elif place not in OWN and place is not ShellPlace.WORKSPACE:
        yield scene.ask(
            "overwriting", translatable("it writes to {path}, {place}", path=repr(shown(target)), place=place.value)
        )


def redirected(scene: RuleInput) -> Iterator[ShellFinding]:
    """Redirections of any command."""
    command = scene.command
    for operator, target, descriptor in command.redirections:
        if operator in ("<<", "<<-", "<<<", "<"):
            continue
        if operator in (">&", "<&") and (target.rstrip("-").isdigit() or target == "-"):
            continue
        if operator == "<>" or target.startswith(("/dev/tcp/", "/dev/udp/")):
            continue  # the network's rules see to that
        yield from writes(scene, target)
        bare = not command.argv and command.text[:1] in "012>&"  # a block's text begins otherwise
        silent = bare or command.name in (":", "true", "false") or command.argv == ("cat", "/dev/null")
        if operator in (">", ">|") and silent and descriptor in ("", "1"):
            yield from empties(scene, target)


def drop(scene: RuleInput) -> Iterator[ShellFinding]:
    """Databases that are dropped."""
    if scene.name != "redis-cli" or any(arg.lower() in ("flushall", "flushdb", "shutdown") for arg in scene.args):
        yield scene.ask("deletion", "it deletes a database")


def container(scene: RuleInput) -> Iterator[ShellFinding]:
    """`docker` and `podman`: what is deleted, and what reaches out of the container."""
    rest = after_options(scene.args, ("-H", "--host", "-c", "--context", "--config", "--log-level"))
    words = [arg for arg in rest[:4] if not arg.startswith("-")]
    if set(words[:2]) & {"rm", "rmi", "prune", "kill"} or (
        "down" in words[:3] and has(rest, "v", "--volumes", "--rmi")
    ):
        yield scene.ask("deletion", "it deletes containers, images or volumes")
    if words[:1] in (["push"], ["login"]):
        yield scene.ask("sending", "it sends to a registry")
    bound = [*values(rest, "-v", "--volume", "--mount")]
    mounts = any(shown(each).split(":")[0] in ("/", "/etc", "/root", "/home", "/var/run/docker.sock") for each in bound)
    mounts = mounts or any("src=/," in each or "source=/," in each or "docker.sock" in each for each in bound)
    if mounts or any(
        arg.startswith(("--privileged", "--cap-add", "--device", "--pid=host", "--security-opt")) for arg in rest
    ):
        yield scene.ask("escalation", "the container reaches out of itself")


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
