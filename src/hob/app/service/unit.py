"""The systemd unit file: restarts, watchdog, hardening.

The lines are documented in https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html,
systemd.exec.html (hardening, quoting of variables) and systemd.kill.html beside it.
"""

import re

from hob.app.service.plan import MARK, ServicePlan

WATCHDOG_SECONDS = 120
STEPS_SINCE = 254
"""The first version of systemd that can increase the pause between restarts."""

_HARDENED = (
    # Nothing here may create a mount namespace or forbid namespaces: bubblewrap would not work.
    "NoNewPrivileges=yes",
    "LockPersonality=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
)
_HOME = re.compile(r'^Environment="HOB_HOME=(.*)"$', re.MULTILINE)
_PROGRAM = re.compile(r'^ExecStart="((?:[^"\\]|\\.)*)"', re.MULTILINE)
_PATH = re.compile(r'^Environment="PATH=.*\n', re.MULTILINE)


def unit_text(plan: ServicePlan, version: int) -> str:
    """Return the unit for this systemd version, without lines that the version does not know."""
    longer = ("RestartSec=1", "RestartSteps=6", "RestartMaxDelaySec=60")
    lines = (
        f"# {MARK}, which writes it anew: put lines of your own into hob.service.d/*.conf",
        "# (`systemctl --user edit hob`).",
        "[Unit]",
        "Description=Hob, a personal assistant",
        "# Retried for ever: a full disk may be freed later.",
        "StartLimitIntervalSec=0",
        "",
        "[Service]",
        "Type=notify",
        "NotifyAccess=main",
        f"ExecStart={' '.join(_quoted(word) for word in plan.program)}",
        "# Settings and secrets are read anew.",
        "ExecReload=kill -HUP $MAINPID",
        f"Environment={_quoted(f'HOB_HOME={plan.home}')}",
        f"Environment={_quoted(f'PATH={plan.path}')}",
        f"EnvironmentFile=-{_doubled(str(plan.environment_file))}",
        f"WatchdogSec={WATCHDOG_SECONDS}",
        "# A migration of a large database comes before it is ready.",
        "TimeoutStartSec=900",
        "# Running turns may end; the commands they run are not signalled before them.",
        f"TimeoutStopSec={plan.stop_seconds:.0f}",
        "KillMode=mixed",
        "Restart=on-failure",
        *(longer if version >= STEPS_SINCE else ("RestartSec=15",)),
        "# Restarting does not fix invalid settings.",
        "RestartPreventExitStatus=2",
        "# A command that takes too much memory is killed alone; Hob sets limits to each, where it may.",
        "OOMPolicy=continue",
        "Delegate=memory pids",
        "UMask=0077",
        "# A core dump would show secrets.",
        "LimitCORE=0",
        *(_HARDENED if plan.confined else ("# bwrap is setuid here: hardening would take that away from it.",)),
        "",
        "[Install]",
        "WantedBy=default.target",
    )
    return "\n".join(lines) + "\n"


def home_in(text: str) -> str:
    """Return the home of Hob's own unit, or an empty text."""
    found = _HOME.search(text)
    return _unquoted(found[1]) if found else ""


def program_in(text: str) -> str:
    """Return the program that Hob's own unit starts, or an empty text."""
    found = _PROGRAM.search(text)
    return _unquoted(found[1]) if found else ""


def same_but_path(one: str, other: str) -> bool:
    """Return whether two units differ at most in their PATH, which depends on the terminal."""
    return _PATH.sub("", one) == _PATH.sub("", other)


def _quoted(word: str) -> str:
    escaped = _doubled(word.replace("\\", "\\\\").replace('"', '\\"'))
    return f'"{escaped}"'


def _unquoted(word: str) -> str:
    return re.sub(r"\\(.)", r"\1", word.replace("%%", "%"))


def _doubled(word: str) -> str:
    return word.replace("%", "%%")
