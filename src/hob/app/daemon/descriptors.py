"""The limit of open files and connections of this process."""

import logging
import resource

log = logging.getLogger(__name__)

ENOUGH = 65_536


def raise_limit() -> int:
    """Raise the limit to `ENOUGH` or as far as permitted. Return the limit in effect.

    Shells and systemd set 1,024 for programs that use `select`; Hob does not.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return ENOUGH if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError) as error:  # macOS has another limit
        log.info("the limit of open files stays at %d: %s", soft, error)
        return soft
    return wanted
