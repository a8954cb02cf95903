"""Ports with masking: known secrets are removed from incoming messages and from stored blobs."""

from dataclasses import replace

from hob.core.ids import BlobId
from hob.core.messages import Inbound
from hob.core.ports.guard import Admission, Admitted, Refused
from hob.core.ports.tools import Blobs
from hob.guard.screening.masking.known_secrets import KnownSecrets


class MaskedAdmission:
    """Implements `Admission` around another one, which sees the unmasked text, since a passphrase is a secret too."""

    def __init__(self, admission: Admission, known: KnownSecrets) -> None:
        self._admission = admission
        self._known = known

    def admit(self, inbound: Inbound) -> Admitted | Refused:
        decision = self._admission.admit(inbound)
        if isinstance(decision, Refused):
            return decision
        seen = decision.inbound or inbound
        clean = self._clean(seen)
        return decision if clean is seen else replace(decision, inbound=replace(clean, sender=decision.sender))

    def _clean(self, inbound: Inbound) -> Inbound:
        known = self._known
        text = known(inbound.text)
        quoted = tuple(replace(part, text=known(part.text)) for part in inbound.quoted)
        files = tuple(replace(file, name=known(file.name)) for file in inbound.attachments)
        if text is inbound.text and quoted == inbound.quoted and files == inbound.attachments:
            return inbound
        return replace(inbound, text=text, quoted=quoted, attachments=files)


class MaskedBlobs:
    """Implements `Blobs` around another one. Texts are stored masked, anything else unchanged.

    A copy of a file that is to be restored is not treated as text, because it must stay identical.
    """

    def __init__(self, blobs: Blobs, known: KnownSecrets) -> None:
        self._blobs = blobs
        self._known = known

    async def put(self, data: bytes, media_type: str) -> BlobId:
        if media_type.startswith("text/"):
            data = self._known(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        return await self._blobs.put(data, media_type)

    async def load(self, blob: BlobId) -> bytes:
        return await self._blobs.load(blob)
