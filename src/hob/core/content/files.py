"""Identity files as prompts show them, with their hash."""

from hob.core.trust.labels import Label, Origin, Trust
from hob.core.values import dataclass

IDENTITY_LABEL = Label(Origin.IDENTITY, Trust.TRUSTED)


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """One identity file as it stands on disk. `hash` is the SHA-256 of its bytes, to which trust is bound.

    `problem` says why the text is not all there (not readable, outside the workspace, cut); empty where it is.
    """

    name: str
    text: str
    hash: str
    label: Label = IDENTITY_LABEL
    problem: str = ""
