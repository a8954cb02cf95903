"""Personal data: masked in logs, diagnostics, public exports and messages to strangers, nowhere else.

Never in memory, never in a call's arguments: an assistant that forgets phone numbers is of no use.
"""

from hob.core.screening.kinds import PII, SECRETS

_KINDS = frozenset({*PII, *SECRETS})


def mask_personal(text: str, *, secrets: bool = False) -> str:
    """The text without addresses, phone, card and other personal numbers; with `secrets` also what looks like a key."""
    from hob.core.screening.detectors import find  # loading takes some hundredths of a second

    found = find(text, _KINDS if secrets else PII)
    for finding in reversed(found):
        text = f"{text[: finding.start]}[{finding.kind.replace('_', ' ')} removed]{text[finding.end :]}"
    return text
