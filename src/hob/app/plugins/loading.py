"""Loading plug-ins: an entry point becomes a feature; an error in one disables only that plug-in."""

import inspect
import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import field, is_dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from hob.agent.commands.table import ANSWERS, BY_NAME
from hob.agent.ports import PromptSection
from hob.app.contribution import Contribution
from hob.app.diagnostics.check import Check, CheckResult, warn
from hob.app.diagnostics.context import DiagnosticContext
from hob.app.features import Features, Opening, SubsystemRefused, make_feature, open_subsystems
from hob.app.kernel import Kernel
from hob.app.plugins.installed import CHANNELS, HOOKS, KINDS, MEMORY, OPENED, SUBSYSTEM, TOOLS, Installed, installed
from hob.app.plugins.manifest import Manifest, fields_in, read_manifests
from hob.app.settings.sections import SECTIONS
from hob.app.subsystem import Open, Subsystem, carried_files
from hob.app.subsystems import SUBSYSTEMS, TOOL_GROUPS
from hob.config.loading import Config
from hob.core.errors import NotConfigured
from hob.core.ids import SessionKey
from hob.core.lazy import Lazy
from hob.core.memory import Layer, Memory
from hob.core.ports.memory import Recall
from hob.core.ports.tools import CallContext, Toolset
from hob.core.tools import ToolCall, ToolGroup, ToolResult, ToolSpec
from hob.core.translation.language import translatable
from hob.core.trust.labels import Label
from hob.core.turns import Turn
from hob.core.values import dataclass
from hob.gateway.dashboard.endpoint_names import is_reserved

_LONGEST_LINE = 80
log = logging.getLogger(__name__)
T = TypeVar("T")


def load_plugin(plugin: Installed) -> Subsystem:
    """Return the plug-in as a feature. Raises NotConfigured if it cannot be loaded or uses a name of Hob's own."""
    if len(plugin.packages) > 1:
        raise NotConfigured(
            translatable(
                "several packages bring a plug-in {plugin}: {packages}; uninstall all but one",
                plugin=plugin.name,
                packages=", ".join(plugin.packages),
            )
        )
    with _loading(plugin):
        feature = _make_subsystem(
            plugin, {group: point.load() for group, point in plugin.points.items() if group in OPENED}
        )
        taken = _taken_names(feature)
    if taken:
        raise NotConfigured(
            translatable(
                "the plug-in {plugin} brings {taken}, which Hob itself has", plugin=plugin.name, taken=", ".join(taken)
            )
        )
    return feature


@contextmanager
def _loading(plugin: Installed) -> Iterator[None]:
    try:
        yield
    except NotConfigured:
        raise
    except (Exception, SystemExit) as error:  # the plug-in's own
        raise NotConfigured(
            translatable("the plug-in {plugin} cannot be loaded: {error}", plugin=plugin.name, error=_error_text(error))
        ) from error


def manifest_of(plugin: Installed, feature: Subsystem) -> Manifest:
    """Return what the owner has to confirm. Raises NotConfigured if the plug-in cannot be loaded."""
    with _loading(plugin):
        declares = tuple(_describe(plugin, feature))
        sections = {name: fields_in(section) for name, section in feature.settings.items()}
    return Manifest(
        name=plugin.name,
        package=plugin.packages[0],
        version=plugin.version,
        declares=declares,
        sections=sections,
        commands={each.name: each.help for each in feature.cli},
        carried=tuple(carried_files([feature])),
    )


def _describe(plugin: Installed, feature: Subsystem) -> Iterable[str]:
    yield from (KINDS[group] for group in plugin.points if group not in (SUBSYSTEM, TOOLS))
    yield from (f"settings [{name}]" for name in feature.settings)
    for spec in (spec for group in feature.tools for spec in group.tools):
        effects = ", ".join(sorted(spec.effects)) or "no effects"
        yield f"tool {spec.name} (tier {spec.tier.value}: {effects})"
    yield from (f"command hob {each.name}" for each in feature.cli)
    yield from (f"slash command /{each.row.name}" for each in feature.slash_commands)
    for endpoint in feature.endpoints() if feature.endpoints is not None else ():
        scope = endpoint.scope.value if endpoint.scope is not None else "for everybody"
        yield f"endpoint {endpoint.method} {endpoint.path} ({scope})"
    for view in feature.views:
        yield f"page {view.title} in the dashboard" + (f" (reads {', '.join(view.asks)})" if view.asks else "")
    yield from (f"layer {each.name} of memory ({_retention_text(each.days)})" for each in feature.layers)
    yield from (f"file {each.name}" for each in feature.files)
    yield from (f"needs {port.__name__}" for port in feature.needs)


def _taken_names(feature: Subsystem) -> Sequence[str]:
    names = {*(each.name for each in SUBSYSTEMS), *(each.name for each in TOOL_GROUPS)}
    commands = [each.row.name for each in feature.slash_commands]
    return [
        *([f"the name {feature.name}"] if feature.name in names else ()),
        *(f"settings [{name}]" for name in feature.settings if name in SECTIONS),
        *(f"the layer {each.name}" for each in feature.layers if each.name in tuple(Layer)),
        *(f"/{name}" for name in commands if name in BY_NAME or name in ANSWERS),
        *(each.path for each in (feature.api_v1() if feature.api_v1 is not None else ()) if is_reserved(each.path)),
    ]


@dataclass(slots=True)
class Plugins:
    """The enabled plug-ins: the features that can be opened, and the problems of the others."""

    manifests: Mapping[str, Manifest] = field(default_factory=dict)
    features: dict[str, Subsystem] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    def refuse(self, name: str, problem: str) -> None:
        """Exclude a plug-in, with the reason."""
        self.features.pop(name, None)
        self.problems[name] = problem
        log.error("the plug-in %s is not opened: %s", name, problem)

    def feature(self) -> Subsystem:
        """Return a feature that reports the plug-ins in `hob status`."""
        return make_feature("plugins", Contribution(status=lambda: {"plugins": self.view()}))

    def view(self) -> Sequence[Mapping[str, str | None]]:
        """Return each plug-in's name, version and problem."""
        return [
            {"name": name, "version": each.version, "problem": self.problems.get(name)}
            for name, each in self.manifests.items()
        ]


def load_plugins(config: Config, enabled: Iterable[Manifest]) -> tuple[Plugins, Config]:
    """Load these plug-ins. Return them, and the settings with their sections."""
    on = {each.name: each for each in enabled}
    plugins = Plugins(on)
    found = installed() if on else {}
    for name, manifest in on.items():
        try:
            feature = _load_confirmed(found, manifest)
            if feature.settings:
                config = config.with_sections(feature.settings)
            plugins.features[name] = feature
        except NotConfigured as error:
            plugins.refuse(name, str(error))
    return plugins, config


def _load_confirmed(found: Mapping[str, Installed], manifest: Manifest) -> Subsystem:
    name = manifest.name
    if name not in found:
        raise NotConfigured(
            translatable("it is no longer installed; `hob plugins disable {name}` switches it off", name=name)
        )
    feature = load_plugin(found[name])
    if found[name].version != manifest.version:
        more = set(manifest_of(found[name], feature).declares).difference(manifest.declares)
        if more:
            raise NotConfigured(
                translatable(
                    "version {version} brings more than you confirmed: {more}; `hob plugins enable {name}` confirms it",
                    version=found[name].version,
                    more=", ".join(sorted(more)),
                    name=name,
                )
            )
    return feature


def checks_of_plugins(home: Path) -> Iterator[Check]:
    """Yield the checks of enabled plug-ins, which are loaded but not opened; a failed load is a finding."""
    on = {name: each for name, each in read_manifests(home).items() if each.on}
    found = installed() if on else {}
    for name, manifest in on.items():
        try:
            feature = _load_confirmed(found, manifest)
            checks = tuple(feature.checks()) if feature.checks is not None else ()
            yield from (replace(each, id=f"{name}.{each.id}") for each in checks)
        except NotConfigured as error:
            yield Check(f"{name}.loaded", f"Can the plug-in {name} be loaded?", partial(_report_problem, str(error)))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - third-party code may raise anything
            yield Check(
                f"{name}.loaded", f"Can the plug-in {name} be loaded?", partial(_report_problem, _error_text(error))
            )


def _report_problem(told: str, _: DiagnosticContext) -> Sequence[CheckResult]:
    return [warn(told, "`hob plugins list` shows all of them")]


def with_plugins(config: Config, own: Sequence[Subsystem]) -> tuple[Opening, Config, Collection[str]]:
    """Return how to open Hob's own features with the enabled plug-ins, the settings, and the files to back up."""
    manifests = read_manifests(config.home)
    plugins, config = load_plugins(config, [each for each in manifests.values() if each.on])
    own = (*own, plugins.feature()) if plugins.manifests else own
    carried = {name for each in manifests.values() for name in each.carried}
    return partial(open_with, own=own, plugins=plugins), config, carried


@asynccontextmanager
async def open_with(kernel: Kernel, own: Sequence[Subsystem], plugins: Plugins) -> AsyncIterator[Features]:
    """Open Hob's own features and all plug-ins that can be opened. Raises NotConfigured if an own one fails."""
    while True:
        chosen = [each for each in plugins.features.values() if each.one_shot or not kernel.one_shot]
        async with AsyncExitStack() as trying:
            try:
                features = await trying.enter_async_context(open_subsystems(kernel, (*own, *chosen)))
            except SubsystemRefused as refused:
                guilty = [name for name in refused.names if name in plugins.features]
                if not guilty:
                    raise
                for name in guilty:
                    plugins.refuse(name, str(refused))
            else:
                yield features
                return


def _make_subsystem(plugin: Installed, parts: Mapping[str, Any]) -> Subsystem:
    name = plugin.name
    if not name.isidentifier() or not name.islower() or "__" in name:
        raise NotConfigured(
            translatable("invalid plug-in name {name!r}; use small letters, digits and single underscores", name=name)
        )
    base = parts.get(SUBSYSTEM, Subsystem(name=name, one_shot=CHANNELS not in parts))
    if not isinstance(base, Subsystem) or base.name != name:
        raise NotConfigured(
            translatable(
                "the entry point {name} of {packages} is not a Subsystem of that name",
                name=name,
                packages=plugin.packages[0],
            )
        )
    single = {group: part for group, part in parts.items() if group != SUBSYSTEM}
    sections = [section for part in single.values() if (section := _section_of(part)) is not None]
    groups = [ToolGroup(_qualified(name, each.name), each.line, _prefixed(name, each.tools)) for each in base.tools]
    if (part := single.get(TOOLS)) is not None:
        specs = _PluginTools(name, _make(part, lambda section: section())).specs()
        line = (inspect.getdoc(part) or name).partition("\n")[0][:_LONGEST_LINE]
        groups.append(ToolGroup(name, line, specs))

    def load() -> Open:
        return partial(_open, base, single)

    settings = {**base.settings, **dict(zip([name], sections[:1], strict=False))}
    layers = tuple(each._replace(name=_qualified(name, each.name)) for each in base.layers)
    return replace(base, settings=settings, tools=tuple(groups), layers=layers, plugin=True, open=Lazy(load))


@asynccontextmanager
async def _open(base: Subsystem, single: Mapping[str, Any], kernel: Kernel) -> AsyncIterator[Contribution]:
    name = base.name
    stack = AsyncExitStack()
    try:
        opened = Contribution() if base.open is None else await stack.enter_async_context(base.open()(kernel))
        made = {group: (_make(part, kernel.config.__getitem__),) for group, part in single.items()}
        channels, toolsets, hooks, memories = (made.get(group, ()) for group in (CHANNELS, TOOLS, HOOKS, MEMORY))
        for channel in channels:
            if channel.name != name:
                raise NotConfigured(
                    translatable(
                        "its channel is called {channel}; it must be called {name}", channel=channel.name, name=name
                    )
                )
        status, heard = opened.status, opened.on_settings
        yield replace(
            opened,
            channels=(*opened.channels, *channels),
            toolsets=tuple(_PluginTools(name, each) for each in (*opened.toolsets, *toolsets)),
            hooks=(*opened.hooks, *hooks),
            recall=tuple(_Source(name, each) for each in (*opened.recall, *memories)),
            prompt_sections=tuple(_Section(name, each) for each in opened.prompt_sections),
            followers=tuple(replace(each, name=f"{name}__{each.name}") for each in opened.followers),
            jobs=tuple(replace(each, name=f"{name}__{each.name}") for each in opened.jobs),
            status=status and (lambda: {f"plugin_{name}": _call_safely(name, status)}),
            on_settings=heard and (lambda config: _call_safely(name, partial(heard, config))),
        )
    finally:
        try:
            await stack.aclose()
        except Exception:  # the plug-in's own
            log.exception("the plug-in %s did not close as it should", name)


def _section_of(part: Any) -> type | None:
    section = getattr(part, "settings", None)
    return section if inspect.isclass(section) and is_dataclass(section) else None


def _make(part: Any, settings: Callable[[Any], Any]) -> Any:
    """Return the object that the entry point names, or that it makes, from its settings if it declares any."""
    if not (inspect.isclass(part) or inspect.isfunction(part)):
        return part
    make: Callable[..., Any] = part
    section = _section_of(part)
    return make() if section is None else make(settings(section))


def _qualified(plugin: str, name: str) -> str:
    return plugin if name == plugin else f"{plugin}_{name}"


def _retention_text(days: float) -> str:
    return f"{days:g} days" if days else "for good"


def _prefixed(name: str, specs: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
    return tuple(replace(spec, name=f"{name}__{spec.name}") for spec in specs)


class _PluginTools:
    """Implements `Toolset`: a plug-in's tools, with the plug-in's name as prefix."""

    def __init__(self, name: str, toolset: Toolset) -> None:
        self._toolset = toolset
        self._specs = _prefixed(name, toolset.specs())
        self._skip = len(name) + 2

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._specs

    async def call(self, call: ToolCall, context: CallContext) -> ToolResult:
        return await self._toolset.call(replace(call, name=call.name[self._skip :]), context)


class _Source:
    """Implements `Recall`: a plug-in's memory, which finds nothing if it fails."""

    def __init__(self, name: str, recall: Recall) -> None:
        self._name = name
        self._recall = recall

    async def recall(self, query: str, session: SessionKey, limit: int) -> tuple[Memory, ...]:
        try:
            return tuple(await self._recall.recall(query, session, limit))[:limit]
        except Exception:  # the plug-in's own
            log.exception("the memory source %s failed", self._name)
            return ()


class _Section:
    """Implements `PromptSection`: a plug-in's part of prompts, which is empty if it fails."""

    def __init__(self, name: str, section: PromptSection) -> None:
        self.name = f"{name} {section.name}"
        self.cached = section.cached
        self._plugin = name
        self._section = section

    @property
    def epoch(self) -> int:
        return _call_safely(self._plugin, lambda: self._section.epoch) or 0

    async def write(self, turn: Turn) -> tuple[str, Label] | None:
        try:
            return await self._section.write(turn)
        except Exception:  # the plug-in's own
            log.exception("the plug-in %s could not write its part of the prompt", self._plugin)
            return None


def _call_safely(name: str, function: Callable[[], T]) -> T | None:
    try:
        return function()
    except Exception:  # the plug-in's own
        log.exception("the plug-in %s failed", name)
        return None


def _error_text(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
