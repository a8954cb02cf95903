"""Which model is asked where nobody names one: prices, limits and the timeline go by names."""

from hob.core.ports.model import CanName, Model


async def real_name(model: Model, name: str) -> str:
    """The name, or where it is empty that of the server's own choice; empty if it cannot tell. Raises ModelError."""
    return name or (await model.default_model() if isinstance(model, CanName) else "")
