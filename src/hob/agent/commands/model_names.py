"""Model names in `/model`: which names users may choose, and which model a name or alias stands for."""

from collections.abc import Callable

from hob.agent.ports import can_route
from hob.core.models import ModelRequest
from hob.core.ports.model import HasDefaultModel, Model


def chosen_name(model: Model, chosen: str | None, default: Callable[[], str]) -> str:
    """Return the name for a request: the chosen one, "" if the model does its own routing, or the default."""
    return chosen or ("" if can_route(model) else default())


async def chain_of(model: Model, name: str, task: str = "chat") -> tuple[str, ...]:
    """Return the references a request with this name would go to, best first; none if unknown. Calls no model.

    Raises ModelError.
    """
    if can_route(model):
        routed = (await model.route(ModelRequest(name, "", (), task=task))).request
        return routed.models or ((routed.model,) if routed.model else ())
    name = name or (await model.default_model() if isinstance(model, HasDefaultModel) else "")
    return (name,) if name else ()


async def real_name(model: Model, name: str, task: str = "chat") -> str:
    """Return the first of these references; empty if unknown. Raises ModelError."""
    return next(iter(await chain_of(model, name, task)), "")
