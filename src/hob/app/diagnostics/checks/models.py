"""Checks of the models: one is connected, names are valid, servers are reachable."""

import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from hob.app.diagnostics.check import Check, CheckResult, critical, warn
from hob.app.diagnostics.context import DiagnosticContext
from hob.core.errors import ModelError
from hob.core.translation.code_words import NO_MODEL
from hob.core.translation.language import translatable
from hob.providers.catalog.catalog import CLI_COMMANDS, CLI_WIRES, LOCAL_PROVIDERS
from hob.providers.http.wire import ListedModel
from hob.providers.opening import open_model
from hob.providers.routing.choice import CONNECT, NO_MODEL_NAME, ModelRef
from hob.providers.settings import ModelSettings

_ASK_SECONDS = 20.0


def _none(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    settings = diagnostics.config[ModelSettings]
    if diagnostics.daemon is not None and not str(diagnostics.daemon.get("model", NO_MODEL_NAME)).startswith(
        NO_MODEL_NAME
    ):
        return
    try:
        if diagnostics.choice.default() is None:
            yield critical(NO_MODEL, CONNECT)
    except ModelError as error:
        yield critical(
            str(error),
            "`hob models set` chooses one that works",
            translatable("model.name = {name}", name=settings.name),
        )


def _names(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    for setting, name in _configured_names(diagnostics.config[ModelSettings]):
        try:
            diagnostics.choice.resolve(name)
        except ModelError as error:
            yield warn(
                translatable("it leads nowhere: {error}", error=error),
                "`hob models scan` shows what there is; change it",
                setting,
            )


MEDIA = ("embedding", "reranking", "transcription", "speech", "vision", "image_generation")
"""The settings of `[model]` that name models for other purposes than answers."""


def _configured_names(settings: ModelSettings) -> Iterator[tuple[str, str]]:
    """Yield every model name in the settings except the default model's."""
    yield from (("model.fallbacks", name) for name in settings.fallbacks)
    yield from ((f"model.tasks.{task}", name) for task, name in settings.tasks.items())
    yield from ((f"model.aliases.{alias}", name) for alias, name in settings.aliases.items())
    media = {kind: getattr(settings, kind) for kind in MEDIA}
    yield from ((f"model.{kind}", name) for kind, name in media.items() if name)


def _programs(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    _, used = _used_models(diagnostics)
    for id in dict.fromkeys(ref.provider for ref in used):
        connected = diagnostics.choice.connect(id)
        if connected.provider.wire in CLI_WIRES:
            program = connected.settings.command or CLI_COMMANDS[connected.provider.wire]
            if diagnostics.find_program(program) is None:
                yield warn(
                    translatable("its program {program} is not in the PATH", program=program),
                    translatable("install it, or set model.providers.{id}.command", id=id),
                    id,
                )


def _unreachable(diagnostics: DiagnosticContext) -> Iterator[CheckResult]:
    diagnostics.need_network()
    usual, used = _used_models(diagnostics)
    told = asyncio.run(_listings(diagnostics, {ref.provider for ref in used} - {*LOCAL_PROVIDERS}))
    for provider, listing in told.items():
        matters = critical if usual is not None and usual.provider == provider else warn
        if isinstance(listing, str):
            yield matters(
                translatable("model server: {listing}", listing=listing),
                "fix that; `hob models test` then tries again",
                provider,
            )
            continue
        names = {each.name.removesuffix(":latest") for each in listing}
        for ref in used:
            if ref.provider == provider and ref.model and names and ref.model.removesuffix(":latest") not in names:
                yield warn(
                    "its server answers, but does not list this model",
                    translatable(
                        "`hob models scan {provider}` shows what it has; `hob models test {ref}` asks it all the same",
                        provider=provider,
                        ref=ref,
                    ),
                    str(ref),
                )


def _used_models(diagnostics: DiagnosticContext) -> tuple[ModelRef | None, tuple[ModelRef, ...]]:
    """Return the default model, and all models that may be used."""
    used: list[ModelRef] = []
    try:
        usual = diagnostics.choice.default()
    except ModelError:
        usual = None
    for _, name in _configured_names(diagnostics.config[ModelSettings]):
        try:
            used.append(diagnostics.choice.resolve(name))
        except ModelError:  # reported by a check of its own
            continue
    return usual, tuple(dict.fromkeys(([usual] if usual is not None else []) + used))


async def _listings(diagnostics: DiagnosticContext, providers: set[str]) -> Mapping[str, tuple[ListedModel, ...] | str]:
    """Return the models of each provider, or why it lists none. No prompt is sent, so it costs no tokens."""

    async def ask(id: str) -> tuple[ListedModel, ...] | str:
        try:
            async with asyncio.timeout(_ASK_SECONDS):
                return await model.routes.list_models(id)
        except ModelError as error:
            return str(error)
        except TimeoutError:
            return f"no answer within {_ASK_SECONDS:.0f} seconds"

    with tempfile.TemporaryDirectory(prefix="hob") as folder:  # checks must not touch the home's own folder
        async with open_model(
            diagnostics.config[ModelSettings], diagnostics.clock, choice=diagnostics.choice, folder=Path(folder)
        ) as model:
            listed = await asyncio.gather(*(ask(id) for id in sorted(providers)))
    return dict(zip(sorted(providers), listed, strict=True))


MODELS: tuple[Check, ...] = (
    Check("models.none", "Is a model connected?", _none, slow=True),
    Check("models.names", "Do all names of models lead somewhere?", _names, slow=True),
    Check("models.programs", "Are the CLIs installed that are asked?", _programs, slow=True),
    Check("models.unreachable", "Do the models' servers answer?", _unreachable, slow=True),
)
