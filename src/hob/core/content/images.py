"""Pictures for models."""

from dataclasses import dataclass

from hob.core.ids import BlobId


@dataclass(frozen=True, slots=True)
class Image:
    """An image for the model, by its blob."""

    blob: BlobId
    media_type: str
