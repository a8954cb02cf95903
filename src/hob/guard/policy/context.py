"""The circumstances of a decision, besides the call itself."""

from collections.abc import Callable
from dataclasses import field

from hob.core.trust.labels import SenderClass, Trust
from hob.core.values import dataclass
from hob.guard.policy.exemptions import NO_WORDS, OwnerWords
from hob.guard.policy.modes import Autonomy, Mode


def _nowhere(_host: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Sandbox:
    """The execution environment of commands. `plain` is the owner's explicit wish to run them unconfined if there is no
    sandbox.

    `versioned`: the writable tree is versioned around each command. `exposed`: nothing prevents a command from changing
    files in that tree that later turns or outside programs execute or obey. `reaches` returns whether the settings let
    commands reach a host; `online` says whether they let commands reach any host, as a running one may already do.
    `late`: changes to files that git runs are undone only after the command has ended. `missing` says why nothing
    confines commands here.
    """

    confined: bool = True
    versioned: bool = True
    plain: bool = False
    reaches: Callable[[str], bool] = _nowhere
    online: bool = False
    exposed: bool = False
    late: bool = False
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Private:
    """Private text of the owner's that the turn has read.

    `names` say where it was read: the path of a file, else the tool. Text that is always part of the prompt has none.
    """

    names: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """Whose turn it is, what it has seen, and how its session is configured.

    `sender` is the least known of the speakers, `named` is what the owner's own words name. `group` means that others
    read the answer. `model` made the call; `depth` is the number of agents between it and a person's message.
    `answerable` means that a person will see a question. `searched` are addresses that the search provider returned in
    this turn; `private` is the private text it has read; `written` are files that earlier tainted turns changed without
    telling the owner; `reached` are hosts that an approved command of this turn reaches; `untrusted_sources` describes,
    for people, the foreign text it has read, as far as known.
    """

    sender: SenderClass = SenderClass.STRANGER
    trust: Trust = Trust.UNTRUSTED
    named: OwnerWords = NO_WORDS
    mode: Mode = Mode.GUARDED
    autonomy: Autonomy = Autonomy.CAUTIOUS
    group: bool = False
    channel: str = ""
    chat: str = ""
    model: str = ""
    depth: int = 0
    answerable: bool = True
    sandbox: Sandbox = field(default_factory=Sandbox)
    searched: frozenset[str] = frozenset()
    private: tuple[Private, ...] = ()
    untrusted_sources: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    reached: frozenset[str] = frozenset()

    @property
    def tainted(self) -> bool:
        """Whether the turn contains text of untrusted origin."""
        return self.trust is not Trust.TRUSTED
