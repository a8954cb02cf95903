"""The wall around what others ask of the database's threads: whatever a job raises is its caller's."""

from collections.abc import Callable
from typing import TypeVar

import apsw

from hob.core.values import dataclass
from hob.store.database.faults import OF_THE_FILE, translate

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JobFailed:
    """A job's exception, on its way to the caller."""

    error: BaseException


def attempt(job: Callable[[apsw.Connection], T], connection: apsw.Connection) -> T | JobFailed:
    """The job's result, or what it raised. Raises apsw errors that concern everybody who uses the file."""
    try:
        return job(connection)
    except OF_THE_FILE:
        raise
    except apsw.Error as error:
        failure = translate(error)
        failure.__cause__ = error
        return JobFailed(failure)
    except Exception as error:  # noqa: BLE001 - the job wall: nothing is swallowed, the caller gets it
        return JobFailed(error)
