"""The models: whether there are any, whether names lead somewhere, whether their servers answer."""

import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from hob.app.doctor.check import Check, Found, critical, warn
from hob.app.doctor.house import House
from hob.core.errors import ModelError
from hob.providers import ModelSettings, open_model
from hob.providers.catalogue import CLI_WIRES
from hob.providers.choice import NOTHING, Ref
from hob.providers.cli.program import COMMANDS
from hob.providers.wire import Listed

_ASK_SECONDS = 20.0


def _none(house: House) -> Iterator[Found]:
    settings = house.config[ModelSettings]
    try:
        if house.choice.default() is None:
            yield critical("no model is connected", NOTHING.partition("; ")[2])
    except ModelError as error:
        yield critical(str(error), "`hob models set` chooses one that works", f"model.name = {settings.name}")


def _names(house: House) -> Iterator[Found]:
    for setting, name in _chosen(house.config[ModelSettings]):
        try:
            house.choice.resolve(name)
        except ModelError as error:
            yield warn(f"it leads nowhere: {error}", "`hob models scan` shows what there is; change it", setting)


def _chosen(settings: ModelSettings) -> Iterator[tuple[str, str]]:
    """Every name of a model in the settings, but for the usual one's."""
    yield from (("model.fallbacks", name) for name in settings.fallbacks)
    yield from ((f"model.tasks.{task}", name) for task, name in settings.tasks.items())
    yield from ((f"model.aliases.{alias}", name) for alias, name in settings.aliases.items())
    media = {kind: getattr(settings, kind) for kind in ("embedding", "transcription", "speech", "vision")}
    yield from ((f"model.{kind}", name) for kind, name in media.items() if name)


def _programs(house: House) -> Iterator[Found]:
    _, used = _used(house)
    for id in dict.fromkeys(ref.provider for ref in used):
        connected = house.choice.connect(id)
        if connected.provider.wire in CLI_WIRES:
            program = connected.settings.command or COMMANDS[connected.provider.wire]
            if house.find_program(program) is None:
                yield warn(
                    f"its program {program} is not in the PATH", f"install it, or set model.providers.{id}.command", id
                )


def _unreachable(house: House) -> Iterator[Found]:
    house.need_network()
    usual, used = _used(house)
    told = asyncio.run(_listings(house, {ref.provider for ref in used}))
    for provider, listing in told.items():
        matters = critical if usual is not None and usual.provider == provider else warn
        if isinstance(listing, str):
            yield matters(
                f"it cannot be asked: {listing}", "`hob models test` tries again once that is put right", provider
            )
            continue
        names = {each.name.removesuffix(":latest") for each in listing}
        for ref in used:
            if ref.provider == provider and ref.model and names and ref.model.removesuffix(":latest") not in names:
                yield warn(
                    "its server does not list such a model",
                    f"`hob models scan {provider}` shows what it has; `hob models test {ref}` asks it all the same",
                    str(ref),
                )


def _used(house: House) -> tuple[Ref | None, tuple[Ref, ...]]:
    """The usual model, and all that may be asked."""
    used: list[Ref] = []
    try:
        usual = house.choice.default()
    except ModelError:
        usual = None
    for _, name in _chosen(house.config[ModelSettings]):
        try:
            used.append(house.choice.resolve(name))
        except ModelError:  # a check of its own tells
            continue
    return usual, tuple(dict.fromkeys(([usual] if usual is not None else []) + used))


async def _listings(house: House, providers: set[str]) -> Mapping[str, tuple[Listed, ...] | str]:
    """What each provider lists, or why it does not. Asks for no answer, so it costs no tokens."""

    async def ask(id: str) -> tuple[Listed, ...] | str:
        try:
            async with asyncio.timeout(_ASK_SECONDS):
                return await model.lanes.list_models(id)
        except ModelError as error:
            return str(error)
        except TimeoutError:
            return f"no answer within {_ASK_SECONDS:.0f} seconds"

    with tempfile.TemporaryDirectory(prefix="hob") as folder:  # the home's own is not touched by looking
        async with open_model(
            house.config[ModelSettings], house.clock, choice=house.choice, folder=Path(folder)
        ) as model:
            listed = await asyncio.gather(*(ask(id) for id in sorted(providers)))
    return dict(zip(sorted(providers), listed, strict=True))


MODELS: tuple[Check, ...] = (
    Check("models.none", "Is a model connected?", _none, slow=True),
    Check("models.names", "Do all names of models lead somewhere?", _names, slow=True),
    Check("models.programs", "Are the CLIs installed that are asked?", _programs, slow=True),
    Check("models.unreachable", "Do the models' servers answer?", _unreachable, slow=True),
)
