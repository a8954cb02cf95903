"""`hob rebuild`: compare tasks, spending and conversations with the timeline and rebuild them."""

from hob.app.home import own
from hob.cli.translating import _
from hob.config.environment import find_home, process_environment

_MAX_LINES = 20


def rebuild(*, check: bool = False) -> int:
    """Rebuild tasks, spending and conversations from the timeline; makes a backup first.

    The timeline is Hob's immutable record of everything that happened (`hob timeline`).

    Stop Hob first, except for `--check`. Memory adds what it lacks at the next start. Erased data stays erased.

    Parameters
    ----------
    check:
        Only compare; works while Hob runs too. Exit status 1 if anything differs.
    """
    from hob.app.memory.opening import FOLLOWER
    from hob.store.projections.rebuild import check_projections, rebuild_projections

    home = find_home(process_environment())
    if check:
        compared, backup = check_projections(home), None
    else:
        with own(home, "rebuild"):
            done = rebuild_projections(home, FOLLOWER)
        compared, backup = done.compared, done.backup
    differences = sum(table.differences for table in compared)
    for table in compared:
        found = _("as the timeline")
        if table.differences:
            found = (_("{count} differ") if check else _("{count} corrected")).format(count=table.differences)
        print(_("{table:9} {rows:9,} rows  {found}", table=table.table, rows=table.rows, found=found))
        for place, line in enumerate(table.lines()):
            if place == _MAX_LINES:
                print(f"           {_(' … and {count} more').format(count=table.differences - place)}")
                break
            print(f"            {line}")
    if not check:
        print(_("Memory adds what it lacks at the next start."))
    if backup is not None:
        print(_("The former database is kept as {file}", file=backup))
    return 1 if check and differences else 0
