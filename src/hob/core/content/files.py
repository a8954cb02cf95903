"""Identity files as shown in prompts, with their hash."""

from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass

IDENTITY_LABEL = Label(Origin.IDENTITY, Trust.TRUSTED)


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """An identity file as it is on disk. `hash` is the SHA-256 of its bytes, to which the owner's trust is bound.

    `problem` says why the text is incomplete (unreadable, outside the workspace, cut); empty if it is complete.
    """

    name: str
    text: str
    hash: str
    label: Label = IDENTITY_LABEL
    problem: str = ""
