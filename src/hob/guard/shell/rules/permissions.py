"""Permissions and users: chmod, chown, setuid, sudo, chroot."""

import re
from collections.abc import Iterator

from hob.core.translation.language import translatable
from hob.guard.shell.arguments import has_option, is_known, operands
from hob.guard.shell.command_context import RuleInput, Rules, ShellFinding, asks
from hob.guard.shell.places import CRITICAL_PLACES, HARMLESS_PLACES, ShellPlace

_OPEN = re.compile(
    r"0?[0-7]{2}[2367]|[0-7]*[2-7][0-7]{3}|.*[oa]\+?[rx]*w.*|[augo]*[+=][rwx]*[st].*|\+[rx]*w.*|.*[oa]=[rx]*w.*"
)


def mode(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `chmod`."""
    args = rule_input.args
    words = [arg for arg in args if not re.fullmatch(r"-[RcfvhHLP]+|--[a-z-]+(=.*)?", arg)]
    deep = has_option(args, "R", "--recursive")
    wanted, targets = words[0] if words else "", words[1:]
    for target in targets:
        place = rule_input.place(target)
        if (place in CRITICAL_PLACES and (deep or target.endswith(("\x01", "/")))) or place is ShellPlace.ROOT:
            yield rule_input.refuse(
                "system-control", translatable("it changes the rights of {place}", place=place.value)
            )
        elif place is ShellPlace.DEVICE:
            yield rule_input.refuse("device-destruction", "it changes the rights of a device")
        elif place not in HARMLESS_PLACES and place is not ShellPlace.WORKSPACE:
            yield rule_input.ask("permission", "it changes the rights of files outside of the workspace")
    if not is_known(wanted):
        yield rule_input.ask("permission", "the rights that it gives are not known")
    elif _OPEN.fullmatch(wanted):
        yield rule_input.ask(
            "permission",
            translatable("the mode {mode} lets others write, or programs run as somebody else", mode=wanted),
        )
    elif deep and not all(rule_input.place(target) in (ShellPlace.BUILT, ShellPlace.TEMPORARY) for target in targets):
        yield rule_input.ask("permission", "it changes the rights of a whole tree")


def owner(rule_input: RuleInput) -> Iterator[ShellFinding]:
    """Judge `chown` and `chgrp`."""
    places = {rule_input.place(target) for target in operands(rule_input.args)[1:]}
    if places & CRITICAL_PLACES and has_option(rule_input.args, "R", "--recursive"):
        yield rule_input.refuse("system-control", "it gives files of the system to somebody else")
    else:
        yield rule_input.ask("permission", "it gives files to somebody else")


_RIGHTS = asks("permission", "it changes rights or attributes of files")
_ROOT = asks("escalation", "it runs something with another user's rights")
_SPACE = asks("escalation", "it enters another root, namespace or user")

RULES: Rules = {
    "chmod": mode,
    **dict.fromkeys(("chown", "chgrp"), owner),
    **dict.fromkeys(("setcap", "setfacl", "chattr", "setfattr", "chcon", "restorecon", "chflags", "xattr"), _RIGHTS),
    **dict.fromkeys(
        (
            "sudo",
            "sudoedit",
            "doas",
            "su",
            "pkexec",
            "runuser",
            "gosu",
            "su-exec",
            "gksudo",
            "kdesudo",
            "run0",
            "setuidgid",
            "newgrp",
            "sg",
            "please",
        ),
        _ROOT,
    ),
    **dict.fromkeys(
        ("chroot", "unshare", "nsenter", "setpriv", "capsh", "bwrap", "proot", "systemd-run", "machinectl"), _SPACE
    ),
}
