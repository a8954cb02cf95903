"""What is done about texts that look like an attempt to steer Hob. Loads nothing but the standard library."""

from enum import StrEnum

from hob.core.settings import setting
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass


class ScannerAction(StrEnum):
    """What is done about a suspicious text, from the least to the most."""

    NONE = "none"
    FLAG = "flag"
    ASK = "ask"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class ScannerSettings:
    """The content scanner: what is done about messages that look like an attack on Hob, by who sent them."""

    owner: ScannerAction = setting(
        ScannerAction.FLAG,
        "Your own, save what you type at the terminal: none, flag (told on the timeline), ask or block.",
    )
    member: ScannerAction = setting(ScannerAction.FLAG, "Those of people you let in; a flag is also told to the model.")
    stranger: ScannerAction = setting(
        ScannerAction.BLOCK, "Those of everybody else; ask takes none and tells you of it."
    )
    threshold: float = setting(1.0, "How suspicious a text may be; lower finds more, also what is none.", at_least=0.1)

    def action_of(self, cls: SenderClass) -> ScannerAction:
        """What is done about such a text of this sender class."""
        return {SenderClass.OWNER: self.owner, SenderClass.MEMBER: self.member}.get(cls, self.stranger)
