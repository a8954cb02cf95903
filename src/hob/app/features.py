"""Opening features (subsystems): each after those that provide its ports, closed in reverse order."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import reduce
from typing import TypeAlias, TypeVar, cast

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel
from hob.app.subsystem import Subsystem
from hob.core.errors import NotConfigured
from hob.core.lazy import Lazy, resolve
from hob.core.translation.language import translatable
from hob.core.values import dataclass
from hob.store.erasure.erasure import Erasure
from hob.store.store import Store

T = TypeVar("T")


class SubsystemRefused(NotConfigured):
    """Some features cannot be opened."""

    def __init__(self, names: Sequence[str], reason: str) -> None:
        super().__init__(reason)
        self.names = tuple(names)


@dataclass(frozen=True, slots=True)
class Features:
    """The open features, in the order in which they were opened."""

    opened: Mapping[str, tuple[Subsystem, Contribution]]
    ports: Mapping[type, object]

    def __iter__(self) -> Iterator[Contribution]:
        return iter([contribution for _, contribution in self.opened.values()])

    @property
    def subsystems(self) -> tuple[Subsystem, ...]:
        """The declarations of the open features."""
        return tuple(subsystem for subsystem, _ in self.opened.values())

    def erasure(self, store: Store) -> Erasure:
        """Return the store's erasure, extended by what features keep outside the database."""
        return store.erasure.with_participants([each.erase for each in self if each.erase is not None])

    def port(self, kind: type[T]) -> T:
        """Return the provider of this port. Raises KeyError if there is none."""
        return cast(T, resolve(self.ports[kind]))

    def wrapped(self, kind: type[T], own: T) -> T:
        """Return Hob's own part, wrapped or replaced by features that ask for it."""
        return reduce(lambda made, each: each.wraps.get(kind, _identity)(made), self, own)


Opening: TypeAlias = Callable[[Kernel], AbstractAsyncContextManager[Features]]
"""Opens features over a kernel."""


@asynccontextmanager
async def open_subsystems(kernel: Kernel, subsystems: Iterable[Subsystem]) -> AsyncIterator[Features]:
    """Open features in the order of their needs; nothing is accepted, sent, scheduled or asked of a model yet.

    Raises SubsystemRefused if two features provide one port or share a name, if a need is unmet or circular, or if a
    plug-in fails to open.
    """
    waiting = _by_name(subsystems)
    layers = {layer.name: layer for each in waiting.values() for layer in each.layers}
    opened: dict[str, tuple[Subsystem, Contribution]] = {}
    ports: dict[type, object] = {}
    providers: dict[type, str] = {}
    async with AsyncExitStack() as stack:
        while waiting:
            subsystem = _next_ready(waiting, ports)
            del waiting[subsystem.name]
            needed = {port: ports[port] for port in subsystem.needs}
            contribution = Contribution()
            if subsystem.open is not None:
                block = subsystem.open()(replace(kernel, ports=needed, feature=subsystem.name, layers=layers))
                try:
                    contribution = await stack.enter_async_context(block)
                except Exception as error:  # a plug-in's costs only the plug-in
                    if not subsystem.plugin:
                        raise
                    fault = f"{type(error).__name__}: {error}"
                    told = translatable("{name} cannot be opened: {fault}", name=subsystem.name, fault=fault)
                    raise SubsystemRefused([subsystem.name], told) from error
            for port in contribution.provides:
                if (other := providers.setdefault(port, subsystem.name)) != subsystem.name:
                    told = translatable(
                        "{one} and {other} both provide {port}; switch one off",
                        one=other,
                        other=subsystem.name,
                        port=port.__name__,
                    )
                    raise SubsystemRefused([other, subsystem.name], told)
            if subsystem.plugin and contribution.wraps:
                told = translatable(
                    "the plug-in {name} tries to replace parts of Hob, which is not allowed", name=subsystem.name
                )
                raise SubsystemRefused([subsystem.name], told)
            ports |= contribution.provides
            opened[subsystem.name] = (subsystem, contribution)
        yield Features(opened, ports)


def _identity(own: T) -> T:
    return own


def make_feature(name: str, parts: Contribution) -> Subsystem:
    """Return a feature that contributes these parts and opens nothing."""

    @asynccontextmanager
    async def opening(_: Kernel) -> AsyncIterator[Contribution]:
        yield parts

    return Subsystem(name=name, one_shot=True, open=Lazy(lambda: opening))


def _by_name(subsystems: Iterable[Subsystem]) -> dict[str, Subsystem]:
    found: dict[str, Subsystem] = {}
    for subsystem in subsystems:
        if found.setdefault(subsystem.name, subsystem) is not subsystem:
            told = translatable("two features are called {name}; switch one off", name=subsystem.name)
            raise SubsystemRefused([subsystem.name], told)
    return found


def _next_ready(waiting: Mapping[str, Subsystem], ports: Mapping[type, object]) -> Subsystem:
    """Return the first feature whose needs are all met."""
    for subsystem in waiting.values():
        if not _missing(subsystem, waiting, ports):
            return subsystem
    told = "; ".join(f"{each.name} needs {', '.join(_missing(each, waiting, ports))}" for each in waiting.values())
    raise SubsystemRefused(
        [*waiting],
        translatable("these features cannot be opened, because what they need is missing: {needs}", needs=told),
    )


def _missing(subsystem: Subsystem, waiting: Mapping[str, Subsystem], ports: Mapping[type, object]) -> Sequence[str]:
    after = [name for name in subsystem.after if name in waiting and name != subsystem.name]
    return [*(port.__name__ for port in subsystem.needs if port not in ports), *after]
