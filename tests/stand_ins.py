"""Hob's features, and one that puts parts of a test in the place of its own."""

from collections.abc import Sequence
from types import MappingProxyType

from hob.app.contribution import Contribution, Wraps
from hob.app.features import make_feature
from hob.app.subsystem import Subsystem
from hob.app.subsystems import SUBSYSTEMS
from hob.core.ports.channel import Channel
from hob.core.ports.model import Model


def stand_ins(
    model: Model | None = None,
    *,
    channels: Sequence[Channel] = (),
    wraps: Wraps = MappingProxyType({}),
) -> tuple[Subsystem, ...]:
    """All features, this model, which is asked instead of every other, these channels, and what wraps other parts."""
    models: Wraps = {} if model is None else {Model: lambda _: model}
    parts = Contribution(channels=tuple(channels), wraps={**models, **wraps})
    return (*SUBSYSTEMS, make_feature("stand_ins", parts))
