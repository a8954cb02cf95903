"""`hob backup` and `hob restore`."""

from pathlib import Path

from hob.app.daemon.daemon_client import reach
from hob.app.home import own
from hob.app.trust.audit import audit_action
from hob.cli.dates_and_figures import number
from hob.cli.output import paint
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment


def backup(file: Path) -> None:
    """Write a consistent copy of the database, files and memory to one file, while Hob keeps running.

    Parameters
    ----------
    file:
        The file to write; it must not exist yet.
    """
    target = file.expanduser().absolute()
    seen = reach("POST", "/backup", {"file": str(target)})
    print(f"{seen['file']}: {number(seen['bytes'] / 1_000_000)} MB")
    missing = _(
        "Not included: settings, secrets/, the workspace, and tools/, which `hob undo` needs. Copy them yourself."
    )
    print(paint(missing, "dim"))


def restore(file: Path) -> None:
    """Restore a backup after checking it; the current data is kept beside it.

    Parameters
    ----------
    file:
        A file written by `hob backup`.
    """
    from hob.store.backup.backup import restore as restore_backup

    home = find_home(process_environment())
    with own(home, "restore"):
        kept = restore_backup(home, file.expanduser().absolute())
        audit_action(home, "restore", str(file))
    print(
        _(
            "{file} is in place; the former database is kept as {kept}" if kept else "{file} is in place",
            file=file,
            kept=kept,
        )
    )
