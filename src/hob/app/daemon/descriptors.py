"""How many files and connections this process may hold open at once."""

import logging
import resource

log = logging.getLogger(__name__)

ENOUGH = 65_536


def raise_limit() -> int:
    """Raise the limit as far as may be, to `ENOUGH` at most; what it is then.

    Shells and systemd begin with 1,024, for programs that cannot count further (select); Hob can.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = ENOUGH if hard == resource.RLIM_INFINITY else min(ENOUGH, hard)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return ENOUGH if soft == resource.RLIM_INFINITY else soft
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError) as error:  # macOS has a further limit of its own
        log.info("the limit of open files stays at %d: %s", soft, error)
        return soft
    return wanted
