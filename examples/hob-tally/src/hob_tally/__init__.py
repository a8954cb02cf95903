"""A follower in one file: it counts turns as they happen; `hob status --json` shows the count."""

from hob.plugin import Lazy, Open, Subsystem


@Lazy
def _open() -> Open:
    from hob_tally.counting import open_tally

    return open_tally


TALLY = Subsystem(name="tally", open=_open)
