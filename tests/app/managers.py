"""Service managers for machines that have none: programs of their names that remember what they were told."""

from pathlib import Path

SYSTEMCTL = """\
echo "systemctl $*" >> "$FAKE/calls"
case "$*" in
  --version) echo "systemd 252 (252-1)" ;;
  "--user show-environment")
    test ! -e "$FAKE/no-bus" || { echo "Failed to connect to bus: No medium found" >&2; exit 1; } ;;
  "--user enable "*) touch "$FAKE/enabled" ;;
  "--user start "* | "--user restart "*)
    test ! -e "$FAKE/broken" || { echo "Job for hob.service failed." >&2; touch "$FAKE/failed"; exit 1; }
    rm -f "$FAKE/failed"; touch "$FAKE/active" ;;
  "--user disable --now "*) rm -f "$FAKE/active" "$FAKE/enabled" ;;
  "--user show "*)
    test -e "$FAKE/active" && echo "ActiveState=active" || { test -e "$FAKE/failed" && echo "ActiveState=failed"; } \\
      || echo "ActiveState=inactive"
    test -e "$FAKE/failed" && echo "Result=watchdog" || echo "Result=success"
    test -e "$FAKE/active" && echo "SubState=running" && echo "MainPID=4711"
    echo "NRestarts=2"; echo "ActiveEnterTimestamp=Sat 2026-11-21 17:00:00 UTC"
    test -e "$FAKE/enabled" && echo "UnitFileState=enabled" || echo "UnitFileState=disabled" ;;
esac
"""
LOGINCTL = """\
echo "loginctl $*" >> "$FAKE/calls"
case "$1" in
  show-user) test -e "$FAKE/lingers" && echo yes || echo no ;;
  enable-linger) test ! -e "$FAKE/forbidden" || { echo "Could not enable linger: Access denied" >&2; exit 1; }
    touch "$FAKE/lingers" ;;
esac
"""
LAUNCHCTL = """\
echo "launchctl $*" >> "$FAKE/calls"
case "$1" in
  bootstrap) touch "$FAKE/loaded" ;;
  bootout) test -e "$FAKE/loaded" || exit 3; rm "$FAKE/loaded" ;;
  print) case "$2" in
    */local.hob) test -e "$FAKE/loaded" || exit 113
      printf '\\tstate = running\\n\\tpid = 4711\\n\\truns = 3\\n\\tlast exit code = 1\\n' ;;
  esac ;;
esac
"""
JOURNALCTL = 'echo "heard: $*"\n'


def put_managers(folder: Path) -> None:
    """Put all of them into this folder of programs."""
    programs = {"systemctl": SYSTEMCTL, "loginctl": LOGINCTL, "launchctl": LAUNCHCTL, "journalctl": JOURNALCTL}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}exit 0\n")
        (folder / name).chmod(0o755)
