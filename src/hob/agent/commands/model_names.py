"""Names of models in `/model`: what people may choose, and which model a name or alias means."""

from collections.abc import Callable

from hob.agent.ports import can_route
from hob.core.models import ModelRequest
from hob.core.ports.model import CanName, Model


def chosen_name(model: Model, chosen: str | None, default: Callable[[], str]) -> str:
    """What a request is to name: what was chosen, else nothing where the model chooses itself, else the default."""
    return chosen or ("" if can_route(model) else default())


async def chain_of(model: Model, name: str, task: str = "chat") -> tuple[str, ...]:
    """The references that a request of this name would go to, best first; none if no one can tell. Asks no model.

    Raises ModelError.
    """
    if can_route(model):
        routed = (await model.route(ModelRequest(name, "", (), task=task))).request
        return routed.models or ((routed.model,) if routed.model else ())
    name = name or (await model.default_model() if isinstance(model, CanName) else "")
    return (name,) if name else ()


async def real_name(model: Model, name: str, task: str = "chat") -> str:
    """The first of these references; empty if no one can tell. Raises ModelError."""
    return next(iter(await chain_of(model, name, task)), "")
