"""What the prompt gives back."""

from dataclasses import dataclass

from hob.core.labels import Trust
from hob.core.models import ModelRequest, Remark


@dataclass(frozen=True, slots=True)
class Section:
    """One named part of a request. `cached` parts are the same next time, so that a provider's cache can hold them."""

    name: str
    bytes: int
    tokens: int
    cached: bool


@dataclass(frozen=True, slots=True)
class Prompt:
    """A request ready for the model, and what went into it.

    `trust` is the join of the labels of all that is rendered. `input_estimate` is in tokens and never above `limit`,
    unless a limit that was learned leaves no room at all. `remarks` tell what of the message did not fit.
    """

    request: ModelRequest
    sections: tuple[Section, ...]
    trust: Trust
    input_estimate: int
    limit: int
    remarks: tuple[Remark, ...] = ()
