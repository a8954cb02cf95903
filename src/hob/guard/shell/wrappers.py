"""Programs that run their arguments: `sudo`, `env`, `xargs`, `find -exec`, `git -c alias.x=!…`.

If the options of such a program are not understood, every later argument that names a dangerous program is also treated
as the beginning of a command.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from hob.guard.shell.arguments import (
    AMBIGUOUS_NAMES,
    ANY,
    DANGEROUS_PROGRAMS,
    HARMLESS_PROGRAMS,
    SHUTDOWN_TIMES,
    UNDERSTOOD_PROGRAMS,
    Args,
    after_options,
    is_known,
    may_be,
    operands,
    option_values,
    words,
)
from hob.guard.shell.commands import NOTHING, Runs
from hob.guard.shell.interpreters import SHELLS, interpreter_runs, shell_run
from hob.guard.shell.outputs import find_paths

_MAX = 8  # maximum commands generated from one


class Prefix(NamedTuple):
    """A program whose arguments end in a command. `valued` options take the next argument."""

    valued: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False
    subcommand: str = ""


def _prefix(valued: str = "", operands: int = 0, assigns: bool = False, subcommand: str = "") -> Prefix:
    return Prefix(frozenset(valued.split()), operands, assigns, subcommand)


_PREFIXES = {
    "sudo": _prefix("-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --chroot --role", 0, True),
    "doas": _prefix("-u -C"),
    "pkexec": _prefix("--user"),
    "env": _prefix("-u -C --unset --chdir", 0, True),
    "nohup": _prefix(),
    "setsid": _prefix(),
    "nice": _prefix("-n --adjustment"),
    "ionice": _prefix("-c -n -p -P -u"),
    "chrt": _prefix("-T -P -D", 1),
    "taskset": _prefix("", 1),
    "timeout": _prefix("-k -s --kill-after --signal", 1),
    "stdbuf": _prefix("-i -o -e --input --output --error"),
    "time": _prefix("-f -o --format --output"),
    "command": _prefix(),
    "builtin": _prefix(),
    "exec": _prefix("-a"),
    "busybox": _prefix(),
    "toybox": _prefix(),
    "chroot": _prefix("", 1),
    "unshare": _prefix("-S -G -R -w"),
    "nsenter": _prefix("-t --target -S -G"),
    "strace": _prefix("-e -o -p -s -P -u -E -I -O -S -a -b"),
    "ltrace": _prefix("-e -o -p -s -u -n -l -a"),
    "flock": _prefix("-w -E --timeout --wait --conflict-exit-code", 1),
    "fakeroot": _prefix("-l -s -i -u -f"),
    "proot": _prefix("-r -b -w -q -S -R -0"),
    "firejail": _prefix(),
    "unbuffer": _prefix(),
    "chronic": _prefix(),
    "ts": _prefix(),
    "systemd-run": _prefix("-p --property -u --unit -E --setenv -d --uid --gid --slice -M -H"),
    "systemd-inhibit": _prefix("--what --who --why --mode"),
    "dbus-run-session": _prefix("--config-file --dbus-daemon"),
    "xvfb-run": _prefix("-s -n -e -f -w --server-args --server-num"),
    "prlimit": _prefix("-p --pid -o --output"),
    "numactl": _prefix("-C -N -m -i -p"),
    "setpriv": _prefix("--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits"),
    "setarch": _prefix("", 1),
    "linux32": _prefix(),
    "linux64": _prefix(),
    "caffeinate": _prefix("-t -w"),
    "gosu": _prefix("", 1),
    "su-exec": _prefix("", 1),
    "runuser": _prefix("-u -g -G -s"),
    "dumb-init": _prefix(),
    "tini": _prefix("-p -e"),
    "ssh-agent": _prefix("-a -t -P -E"),
    "valgrind": _prefix(),
    "eatmydata": _prefix(),
    "entr": _prefix(),
    "coproc": _prefix(),
    "catchsegv": _prefix(),
    "cgexec": _prefix("-g"),
    "bwrap": _prefix(),
    "poetry": _prefix("-C -P --directory --project", 0, False, "run"),
    "pipenv": _prefix("", 0, False, "run"),
    "pdm": _prefix("-p", 0, False, "run"),
    "hatch": _prefix("-e", 0, False, "run"),
    "rye": _prefix("", 0, False, "run"),
    "uv": _prefix(
        "--with --python -p --extra --group --env-file --project --directory --index-url --package", 0, True, "run"
    ),
    "conda": _prefix("-n -p --name --prefix --cwd", 0, False, "run"),
    "mamba": _prefix("-n -p", 0, False, "run"),
    "bundle": _prefix("", 0, False, "exec"),
    "npm": _prefix("-p --package -w --workspace -C --prefix", 0, False, "exec"),
    "pnpm": _prefix("-C --dir --filter -F --package", 0, False, "exec"),
    "yarn": _prefix("-p --package --cwd", 0, False, "exec"),
    "mise": _prefix("-C -E", 0, False, "exec"),
    "direnv": _prefix("", 1, False, "exec"),
    "coverage": _prefix("--source --omit --include --rcfile --data-file --context -m", 0, False, "run"),
    "npx": _prefix("-p --package -w"),
    "bunx": _prefix(),
    "perf": _prefix("-e -o -F -g -p -c", 0, False, "record"),
}
# options whose value is a command line
_OPTIONS = {
    "tar": (
        "--to-command",
        "-I",
        "--use-compress-program",
        "--rsh-command",
        "-F",
        "--info-script",
        "--new-volume-script",
    ),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "zip": ("-TT", "--unzip-command"),
    "split": ("--filter",),
    "sort": ("--compress-program",),
    "rg": ("--pre",),
    "man": ("-P", "--pager", "-H", "--html"),
    "wget": ("--use-askpass",),
    "tcpdump": ("-z", "--postrotate-command"),
    "scp": ("-S",),
    "sftp": ("-S",),
    "nix-shell": ("--run", "--command"),
    "npx": ("-c", "--call"),
    "npm": ("-c", "--call"),
    "nodemon": ("-x", "--exec"),
    "script": ("-c", "--command"),
    "su": ("-c", "--command", "--session-command"),
    "runuser": ("-c", "--command", "--session-command"),
    "flock": ("-c", "--command"),
    "vagrant": ("-c", "--command"),
    "env": ("-S", "--split-string"),
    "nix": ("-c", "--command"),
    "nc": ("-e", "-c", "--exec", "--sh-exec"),
    "ncat": ("-e", "-c", "--exec", "--sh-exec"),
    "netcat": ("-e", "-c"),
    "pg_dump": ("--pre-exec",),
    "less": ("--cmd",),
}
# programs whose operands are command lines
_TEXTS = {
    "watch": ("-n", "-d", "--interval"),
    "hyperfine": ("-w", "-r", "-m", "-M", "-n", "-L", "--warmup", "--runs", "--export-json", "--export-markdown"),
    "concurrently": ("-n", "-c", "--names"),
    "tmux": ("-s", "-t", "-n", "-c", "-L", "-S", "-f", "-x", "-y"),
    "screen": ("-S", "-t", "-c", "-p", "-X"),
}


def nested_runs(argv: Args, stdin: str | None) -> Runs:
    """Return what the command runs in turn, or NOTHING if its arguments show nothing of the kind."""
    name, args = argv[0].rpartition("/")[2], argv[1:]
    if not is_known(name):
        return _guessed(name, args, stdin)
    if name in HARMLESS_PROGRAMS:
        return NOTHING
    found = interpreter_runs(name, args)
    if found is None:
        special = _SPECIAL.get(name)
        prefix = _PREFIXES.get(name)
        if special is not None:
            found = special(args, stdin)
        elif prefix is not None:
            found = _after_prefix(prefix, args)
        else:
            found = NOTHING
    if name in _OPTIONS:
        found = replace(found, shell=(*found.shell, *((text, ()) for text in _command_lines(name, args))))
    if found.commands or name in DANGEROUS_PROGRAMS or name in UNDERSTOOD_PROGRAMS:
        return found
    suspected = _suspected(args)
    return replace(found, commands=suspected) if suspected else found


def _command_lines(name: str, args: Args) -> list[str]:
    found = list(option_values(args, *_OPTIONS[name]))
    if name in ("script", "su", "env"):  # -qc TEXT
        found += [args[at + 1] for at, arg in enumerate(args[:-1]) if re.fullmatch("-[a-zA-Z]+[cS]", arg)]
    return found


def _after_prefix(prefix: Prefix, args: Args) -> Runs:
    if prefix.subcommand:
        args = after_options(args, prefix.valued)
        if args[:1] not in ((prefix.subcommand,), ("x",)):
            return Runs()
        args = args[1:]
    inner = after_options(args, prefix.valued, prefix.operands, prefix.assigns)
    if not inner:
        return Runs()
    if prefix.subcommand and inner[0].endswith(".py"):
        return Runs(scripts=(inner[0],))
    return Runs(commands=(inner,))


def _suspected(args: Args) -> tuple[Args, ...]:
    """Return commands that may begin at some argument."""
    found: list[Args] = []
    for at, arg in enumerate(args):
        directory, _, name = arg.rpartition("/")
        if directory and not directory.endswith("bin"):
            continue  # a file of this name
        follows = args[at + 1] if at + 1 < len(args) else ""
        if name in SHELLS:
            begins = follows[:1] == "-" and "c" in follows
        elif name in AMBIGUOUS_NAMES:
            begins = at > 0 and (follows[:1] == "-" or follows in SHUTDOWN_TIMES)
        else:
            begins = name in DANGEROUS_PROGRAMS
        if begins:
            found.append(args[at:])
    return tuple(found[:_MAX])


def _guessed(name: str, args: Args, stdin: str | None) -> Runs:
    """Return what a program of unknown name may run."""
    for shell in ("bash", "eval", "sudo", "env", "python", "xargs"):
        if may_be(name, shell):
            if shell == "bash" and not any(arg[:1] == "-" and "c" in arg for arg in args) and stdin is None:
                continue
            if shell == "eval":
                return shell_run(" ".join(args)) if name != ANY else Runs(commands=_suspected(args))
            return replace(nested_runs((shell, *args), stdin), opaque="the name of the program is not known")
    return Runs(commands=_suspected(args))


def _xargs(args: Args, stdin: str | None) -> Runs:
    valued = ("-I", "-n", "-P", "-L", "-d", "-E", "-a", "-s", "--max-args", "--max-procs", "--delimiter", "--arg-file")
    inner = after_options(args, valued)
    if not inner:
        return Runs()
    marks = list(option_values(args, "-I", "--replace")) or (["{}"] if "-i" in args else [])
    known = stdin is not None and len(stdin) < 4096 and not any(option_values(args, "-a", "--arg-file"))
    if not marks:
        items = tuple(stdin.replace(ANY + "\n", ANY + " ").split()) if known and stdin else ()
        return Runs(commands=((*inner, *(items or (ANY,))),))
    lines = stdin.splitlines()[:_MAX] if known and stdin else [ANY]
    return Runs(commands=tuple(tuple(arg.replace(marks[0], line) for arg in inner) for line in lines))


def _parallel(args: Args, stdin: str | None) -> Runs:
    valued = ("-j", "-N", "-n", "-P", "--jobs", "--colsep", "-a", "--delay", "--timeout", "--joblog", "--retries")
    rest = after_options(args, valued)
    marks = [at for at, arg in enumerate(rest) if arg in (":::", "::::", ":::+")]
    template = rest[: marks[0]] if marks else rest
    if not template:
        return Runs(takes_input=True)
    if marks and rest[marks[0]] == ":::":
        items = [arg for arg in rest[marks[0] + 1 :] if not arg.startswith(":::")]
    else:
        items = stdin.splitlines() if stdin else [ANY]
    line = " ".join(template)
    texts = [line.replace("{}", item) if "{" in line else f"{line} {item}" for item in items[:_MAX]]
    return Runs(shell=tuple((text, ()) for text in texts), opaque="" if len(items) <= _MAX else "it runs many commands")


def _find(args: Args, _: str | None) -> Runs:
    found: list[Args] = []
    paths = find_paths(args)
    at = 0
    while at < len(args):
        if args[at] in ("-exec", "-execdir", "-ok", "-okdir"):
            end = at + 1
            while end < len(args) and args[end] not in (";", "+"):
                end += 1
            inner = args[at + 1 : end]
            if inner and any("{}" in arg for arg in inner):
                found.extend(tuple(arg.replace("{}", path) for arg in inner) for path in paths[:_MAX])
            elif inner:
                found.append(inner)
            at = end
        at += 1
    return Runs(commands=tuple(found)) if found else NOTHING


def _fd(args: Args, _: str | None) -> Runs:
    for at, arg in enumerate(args):
        if arg in ("-x", "-X", "--exec", "--exec-batch"):
            inner = tuple(each.replace("{}", ANY) for each in args[at + 1 :])
            return Runs(commands=((*inner, ANY) if ANY not in "".join(inner) else inner,)) if inner else NOTHING
    return NOTHING


def _ssh(args: Args, _: str | None) -> Runs:
    valued = frozenset(words("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"))
    rest = after_options(args, valued, 1)
    texts = [" ".join(rest)] if rest else []
    for option in option_values(args, "-o"):
        key, _, value = option.replace(" ", "=", 1).partition("=")
        if key.lower() in ("proxycommand", "localcommand", "knownhostscommand", "remotecommand"):
            texts.append(value)
    return Runs(shell=tuple((text, ()) for text in texts))


def _texts(name: str) -> Callable[[Args, str | None], Runs]:
    def texts(args: Args, _: str | None) -> Runs:
        found = operands(args, _TEXTS[name])
        if name == "watch":
            found = [" ".join(after_options(args, _TEXTS[name]))]
        elif name in ("tmux", "screen"):
            found = [arg for arg in found if " " in arg]
        return Runs(shell=tuple((text, ()) for text in found if text), commands=_suspected(args))

    return texts


def _tar(args: Args, _: str | None) -> Runs:
    found = [
        value.partition("=")[2] for value in option_values(args, "--checkpoint-action") if value.startswith("exec")
    ]
    return Runs(shell=tuple((text, ()) for text in found))


_RUNNING_KEYS = re.compile(
    r"core\.(pager|editor|sshcommand|fsmonitor|gitproxy|askpass)|alias\..+|pager\..+|diff\.external|sequence\.editor|"
    r"(diff|merge|filter|credential|gpg|remote|browser|man|difftool|mergetool|trailer|tar|interactive|uploadpack)\..*"
    r"(command|cmd|textconv|driver|clean|smudge|process|helper|program|uploadpack|receivepack|difffilter|hook)|gpg\.program",
    re.IGNORECASE,
)


def _git(args: Args, _: str | None) -> Runs:
    shell: list[str] = []
    settings = [text.partition("=")[::2] for text in option_values(args, "-c")]
    rest = after_options(args, ("-c", "-C", "--git-dir", "--work-tree", "--namespace", "--config-env", "--exec-path"))
    action, more = rest[:1], rest[1:]
    if action == ("config",):
        named = operands(more, ("-f", "--file", "--type", "--default"))
        settings += [(named[0], named[1])] if len(named) == 2 else []
    for key, value in settings:
        if _RUNNING_KEYS.fullmatch(key):
            alias = key.lower().startswith("alias.")
            if value.startswith("!") or not alias:
                shell.append(value.removeprefix("!"))
    if action == ("submodule",) and more[:1] == ("foreach",):
        shell.append(" ".join(after_options(more[1:])))
    elif action == ("bisect",) and more[:1] == ("run",):
        return Runs(commands=(more[1:],) if more[1:] else ())
    elif action == ("rebase",):
        shell += option_values(more, "-x", "--exec")
    elif action == ("filter-branch",):
        shell += [more[at + 1] for at, arg in enumerate(more[:-1]) if arg.endswith("-filter")]
    elif action == ("difftool",):
        shell += option_values(more, "-x", "--extcmd")
    elif action == ("clone",):
        shell += option_values(more, "-u")
    elif action == ("grep",):
        shell += [value for value in option_values(more, "-O", "--open-files-in-pager") if value]
    shell += (
        option_values(more, "--upload-pack", "--receive-pack", "--exec") if action and action[0] != "rebase" else ()
    )
    shell += [arg[5:] for arg in more if arg.startswith("ext::")]
    return Runs(shell=tuple((text, ()) for text in shell if text)) if shell else NOTHING


def _source(args: Args, _: str | None) -> Runs:
    return Runs(scripts=tuple(args[:1]))


def _later(_: Args, __: str | None) -> Runs:
    return Runs(takes_input=True)


_SPECIAL: dict[str, Callable[[Args, str | None], Runs]] = {
    "xargs": _xargs,
    "parallel": _parallel,
    "find": _find,
    "gfind": _find,
    "fd": _fd,
    "fdfind": _fd,
    "ssh": _ssh,
    "autossh": _ssh,
    "git": _git,
    "tar": _tar,
    "gtar": _tar,
    "bsdtar": _tar,
    "source": _source,
    ".": _source,
    "at": _later,
    "batch": _later,
    **{name: _texts(name) for name in _TEXTS},
}
