"""The service as a systemd user unit, with restarts, watchdog and hardening.

The lines are documented in https://www.freedesktop.org/software/systemd/man/latest/systemd.service.html,
systemd.exec.html (hardening, quoting of variables) and systemd.kill.html beside it.
"""

import os
import pwd
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from hob.app.service.plan import MARK, ServicePlan
from hob.app.service.service_manager import ServiceState, config_folder, read_text
from hob.app.service.steps import KeepFile, Remove, Run, Step, WriteFile, run_program
from hob.core.translation.language import translatable

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


UNIT = "hob.service"
_USER = ("systemctl", "--user")
_SHOWN = "ActiveState,SubState,Result,MainPID,NRestarts,UnitFileState,ActiveEnterTimestamp"


class Systemd:
    """Implements `ServiceManager` by calling `systemctl --user`, `loginctl` and `journalctl`."""

    name = "systemd"

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.file = config_folder(environ) / "systemd" / "user" / UNIT

    def obstacle(self) -> str:
        said = run_program(self._environ, *_USER, "show-environment")
        if said.status == 0:
            return ""
        if said.status == 127:
            return translatable("{reason}; start `hob serve` with what starts programs here", reason=said.complaint)
        return translatable(
            "systemd does not answer for this user ({reason}); log in as this user itself, by ssh or at the "
            "machine, not by su or sudo; in a container start `hob serve` by the container's own means",
            reason=said.complaint,
        )

    def text(self, plan: ServicePlan) -> str:
        return unit_text(plan, self._version)

    def install(self, plan: ServicePlan) -> Sequence[Step]:
        return tuple(self._install(plan))

    def _install(self, plan: ServicePlan) -> Iterator[Step]:
        there = read_text(self.file)
        if there and MARK not in there:
            yield KeepFile(self.file)
        yield WriteFile(self.file, self.text(plan))
        yield Run((*_USER, "daemon-reload"))
        if self._lingers() is False:
            yield Run(
                ("loginctl", "enable-linger", self._user),
                translatable(
                    "it stops when you log out; `sudo loginctl enable-linger {user}` lets it run on", user=self._user
                ),
            )
        yield Run((*_USER, "enable", UNIT))
        yield Run((*_USER, "start", UNIT))

    def uninstall(self) -> Sequence[Step]:
        if not self.file.exists():
            return ()
        stop = Run((*_USER, "disable", "--now", UNIT))
        clean = Run((*_USER, "reset-failed", UNIT))
        return (stop, clean, Remove(self.file), Run((*_USER, "daemon-reload")))

    def restart(self) -> Sequence[Step]:
        return (Run((*_USER, "daemon-reload")), Run((*_USER, "restart", UNIT)))

    def logs(self, lines: int, *, follow: bool) -> Sequence[str]:
        return ("journalctl", "--user", f"--unit={UNIT}", f"--lines={lines}", *(("--follow",) if follow else ()))

    def state(self) -> ServiceState:
        said = run_program(self._environ, *_USER, "show", UNIT, f"--property={_SHOWN}")
        seen = dict(line.split("=", 1) for line in said.out.splitlines() if "=" in line)
        active, result = seen.get("ActiveState", "unknown"), seen.get("Result", "")
        reason = result if active == "failed" or result not in ("", "success") else seen.get("SubState", "")
        return ServiceState(
            installed=self.file.exists(),
            enabled=seen.get("UnitFileState", "") == "enabled",
            running=active in ("active", "reloading"),
            detail=f"{active} ({reason})" if reason else active,
            pid=_number(seen.get("MainPID", "")),
            restarts=_number(seen.get("NRestarts", "")),
            since=seen.get("ActiveEnterTimestamp", ""),
            lingers=self._lingers(),
        )

    def home(self) -> str:
        return home_in(read_text(self.file))

    def program(self) -> str:
        return program_in(read_text(self.file))

    def is_current(self, plan: ServicePlan) -> bool:
        return same_but_path(read_text(self.file), self.text(plan))

    @cached_property
    def _version(self) -> int:
        found = re.match(r"systemd (\d+)", run_program(self._environ, "systemctl", "--version").out)
        return int(found[1]) if found else 0

    @property
    def _user(self) -> str:
        return pwd.getpwuid(os.getuid()).pw_name

    def _lingers(self) -> bool | None:
        said = run_program(self._environ, "loginctl", "show-user", self._user, "--property=Linger", "--value")
        return {"yes": True, "no": False}.get(said.out.strip()) if said.status == 0 else None


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else 0
