"""Permission modes and autonomy: what is allowed without asking in a trusted context.

`TABLE` is the single source, from which the documentation page is generated. Tainted contexts, senders other than the
owner, and hard rules only make it stricter.
"""

from collections.abc import Mapping
from enum import StrEnum


class Mode(StrEnum):
    """What a session permits, strictest first."""

    READ_ONLY = "read-only"
    GUARDED = "guarded"
    WORKSPACE = "workspace"
    FULL = "full"


class Autonomy(StrEnum):
    """How much a session does without asking, least first."""

    SUPERVISED = "supervised"
    CAUTIOUS = "cautious"
    AUTONOMOUS = "autonomous"


class Act(StrEnum):
    """The acts of a call, derived from its effects and arguments. One call may have several."""

    READ = "read"
    FETCH = "fetch"
    WRITE = "write"
    RUN = "run"
    ONLINE = "online"
    PERSIST = "persist"
    FINAL = "final"
    SEND = "send"
    RISK = "risk"
    CONFIGURE = "configure"


class ModeVerdict(StrEnum):
    """The table's answer for an act, mildest first."""

    YES = "yes"
    NAMED = "named"
    ASK = "ask"
    NO = "no"


ACTS: Mapping[Act, str] = {
    Act.READ: "read files and pages that you opened to tools",
    Act.FETCH: "fetch an address in the web, ask the search provider",
    Act.WRITE: "write files so that it can be undone",
    Act.RUN: "run a command in the sandbox, without network; its changes can be undone",
    Act.ONLINE: "run a command that reaches hosts the owner's settings allow",
    Act.PERSIST: "remember, schedule, write skills: what counts as your instruction in later conversations",
    Act.FINAL: "do what cannot be undone",
    Act.SEND: "send something to somebody",
    Act.RISK: "read keys, run a command that destroys work, takes more rights or shows the environment",
    Act.CONFIGURE: "change Hob's settings or hooks",
}

_YES, _NAMED, _ASK, _NO = ModeVerdict.YES, ModeVerdict.NAMED, ModeVerdict.ASK, ModeVerdict.NO
_Row = tuple[ModeVerdict, ModeVerdict, ModeVerdict]  # supervised, cautious, autonomous

TABLE: Mapping[Act, Mapping[Mode, _Row]] = {
    act: dict(zip(Mode, rows, strict=True))
    for act, rows in {
        #               read-only            guarded                   workspace                full
        Act.READ: ((_YES, _YES, _YES), (_YES, _YES, _YES), (_YES, _YES, _YES), (_YES, _YES, _YES)),
        Act.FETCH: ((_YES, _YES, _YES), (_YES, _YES, _YES), (_YES, _YES, _YES), (_YES, _YES, _YES)),
        Act.WRITE: ((_NO, _NO, _NO), (_ASK, _YES, _YES), (_ASK, _YES, _YES), (_ASK, _YES, _YES)),
        Act.RUN: ((_NO, _NO, _NO), (_ASK, _YES, _YES), (_ASK, _YES, _YES), (_ASK, _YES, _YES)),
        Act.ONLINE: ((_NO, _NO, _NO), (_ASK, _YES, _YES), (_ASK, _YES, _YES), (_ASK, _YES, _YES)),
        Act.PERSIST: ((_NO, _NO, _NO), (_ASK, _YES, _YES), (_ASK, _YES, _YES), (_ASK, _YES, _YES)),
        Act.FINAL: ((_NO, _NO, _NO), (_ASK, _NAMED, _NAMED), (_ASK, _NAMED, _YES), (_ASK, _YES, _YES)),
        Act.SEND: ((_NO, _NO, _NO), (_ASK, _NAMED, _NAMED), (_ASK, _NAMED, _NAMED), (_ASK, _NAMED, _YES)),
        Act.RISK: ((_NO, _NO, _NO), (_ASK, _ASK, _ASK), (_ASK, _ASK, _YES), (_ASK, _YES, _YES)),
        Act.CONFIGURE: ((_NO, _NO, _NO), (_ASK, _ASK, _ASK), (_ASK, _ASK, _ASK), (_ASK, _ASK, _ASK)),
    }.items()
}


def look_up(act: Act, mode: Mode, autonomy: Autonomy) -> ModeVerdict:
    """Return the table's entry."""
    return TABLE[act][mode][list(Autonomy).index(autonomy)]
