"""Images as models receive them."""

from hob.core.ids import BlobId
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Image:
    """An image for a model, by its blob."""

    blob: BlobId
    media_type: str
