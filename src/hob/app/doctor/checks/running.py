"""The Hob that is running, as it tells it itself."""

from collections.abc import Iterator

from hob.app.doctor.check import Check, Found, critical, info, warn
from hob.app.doctor.house import ANSWER_SECONDS, House


def _hung(house: House) -> Iterator[Found]:
    if house.owner is not None and house.owner.status is None:
        yield critical(
            f"it owns the home and does not answer within {ANSWER_SECONDS:.0f} seconds",
            "`hob logs` may say why; to end it loses nothing: `hob service restart`, or kill it",
            house.owner.name,
        )


def _store(house: House) -> Iterator[Found]:
    if (problem := house.status().get("store", "ok")) != "ok":
        yield critical(f"nothing is accepted now: {problem}", "`hob status` tells more; what was accepted is kept")


def _resting(house: House) -> Iterator[Found]:
    for lane in house.status().get("resting", ()):
        yield warn(
            f"this model is not asked for a while: {lane['reason']}", "`hob models test` asks it now", lane["model"]
        )


def _not_running(house: House) -> Iterator[Found]:
    if house.owner is None and house.home.is_dir():
        yield info("Hob is not running", "`hob service install` keeps it running, `hob serve` runs it here")


RUNNING: tuple[Check, ...] = (
    Check("daemon.hung", "Does the running Hob answer?", _hung, slow=True),
    Check("daemon.refusing", "Does it accept messages?", _store),
    Check("daemon.resting", "Are all models asked?", _resting),
    Check("daemon.stopped", "Is Hob running?", _not_running),
)
