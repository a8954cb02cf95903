"""Settings for texts that look like an attempt to steer Hob. Imports only the standard library."""

from enum import StrEnum

from hob.core.settings import setting
from hob.core.trust.labels import SenderClass
from hob.core.values import dataclass


class ScannerAction(StrEnum):
    """The action for a suspicious text, mildest first."""

    NONE = "none"
    FLAG = "flag"
    ASK = "ask"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class ScannerSettings:
    """The content scanner: what happens to messages that look like an attack on Hob, by sender."""

    owner: ScannerAction = setting(
        ScannerAction.FLAG,
        "Your own messages, except what you type at the terminal: none ignores the finding, flag notes it on "
        "the timeline, ask and block refuse the message, ask also notifies you.",
    )
    member: ScannerAction = setting(
        ScannerAction.FLAG, "Messages of people you let in: the same choices; flag also tells the model."
    )
    stranger: ScannerAction = setting(ScannerAction.BLOCK, "Messages of everybody else: the same choices.")
    threshold: float = setting(
        1.0,
        "Score from which a message counts as suspicious; a lower value finds more attempts and more false ones.",
        at_least=0.1,
    )

    def action_of(self, cls: SenderClass) -> ScannerAction:
        """Return the action for such a text of this sender class."""
        return {SenderClass.OWNER: self.owner, SenderClass.MEMBER: self.member}.get(cls, self.stranger)
