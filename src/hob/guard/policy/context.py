"""All that a decision rests on besides the call itself."""

from collections.abc import Callable
from dataclasses import field

from hob.core.trust.labels import SenderClass, Trust
from hob.core.values import dataclass
from hob.guard.policy.exemptions import NOTHING, Named
from hob.guard.policy.modes import Autonomy, Mode


def _nowhere(_host: str) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Sandbox:
    """Where commands run. `plain` is the owner's explicit wish to run them unconfined where there is no sandbox.

    `versioned`: the tree they may write is versioned around each command. `exposed`: nothing keeps a command from
    changing what later turns, or programs outside, execute or follow in that tree. `reaches` tells whether the
    owner's settings let commands reach a host, `online` whether they let them reach any: one that runs
    already may. `late`: what makes git run something is taken back only when the command has ended. `missing` tells why
    nothing confines commands here.
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
    """Words of the owner's that a turn has before it.

    `names` tell where they were read: files by path, else the tool. What always stands in the prompt has none.
    """

    names: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """Whose turn it is, what it has seen, and how its session is set.

    `sender` is the least known of those who speak in it, `named` what the owner's own words of it name. `group`: others
    read the answer. `model` is the reference of the model that made the call, `depth` how
    many agents lie between it and a person's message. `answerable`: somebody will see a question. `searched` are
    addresses that the search provider gave in this turn; `private` is what it has before it that is
    the owner's alone; `written` are files that earlier tainted turns changed, which the owner was not told of;
    `reached` are hosts that a command of this turn was approved to reach;
    `untrusted_sources` names, for people, what of others it has before it, as far as that is known.
    """

    sender: SenderClass = SenderClass.STRANGER
    trust: Trust = Trust.UNTRUSTED
    named: Named = NOTHING
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
        """Whether something in it may be the word of others."""
        return self.trust is not Trust.TRUSTED
