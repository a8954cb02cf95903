"""Isolation of jobs in the database threads: an exception of a job is raised in its caller."""

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
    """Return the job's result or its exception. Raises apsw errors that concern every user of the file."""
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
