"""The promises of a feature, as a function that checks a plug-in's `Subsystem`."""

import tempfile
from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path

from hob.app.composition import App, open_app
from hob.app.contribution import Contribution
from hob.app.features import make_feature
from hob.app.settings.sections import SECTIONS
from hob.app.subsystem import Subsystem
from hob.app.subsystems import SUBSYSTEMS
from hob.config.loading import load_config
from hob.core.ports.model import Model
from hob.testing.model import ScriptedModel
from hob.testing.promises import require


async def check_subsystem(subsystem: Subsystem, settings: Mapping[str, str] | None = None) -> None:
    """Check the promises with a whole Hob in a temporary folder. `settings` are texts by dotted key.

    Raises AssertionError naming the broken promise; errors of the feature itself are raised unchanged.
    """
    name = subsystem.name
    require(
        name.isidentifier() and name.islower() and "__" not in name, f"{name!r} is a name: small letters, digits, _"
    )
    for section, kind in subsystem.settings.items():
        require(section not in SECTIONS, f"[{section}] is not Hob's own")
        require(issubclass(kind, dict) or is_dataclass(kind), f"[{section}] is a frozen dataclass")
    for endpoint in subsystem.endpoints() if subsystem.endpoints is not None else ():
        require(bool((endpoint.handler.__doc__ or "").strip()), f"{endpoint.method} {endpoint.path} says what it does")
    for command in subsystem.cli:
        require(
            callable(command.run()) and bool(command.help), f"`hob {command.name}` can be called and says what it does"
        )
    feature = replace(subsystem, one_shot=True)
    with tempfile.TemporaryDirectory(prefix="hob") as folder:
        for _ in range(2):  # what the first run leaves behind must not hinder the second
            await _check_open(feature, Path(folder), settings or {})


async def _check_open(subsystem: Subsystem, folder: Path, settings: Mapping[str, str]) -> None:
    environ = {
        "HOB_MODEL_BASE_URL": "http://127.0.0.1:9/v1",
        "HOB_MODEL_NAME": "m",
        "HOB_WORKSPACE_PATH": f"{folder}/w",
    }
    sections = {**SECTIONS, **subsystem.settings}
    config = load_config(sections, home=folder / "home", environ=environ, flags=settings)
    scripted = make_feature("scripted", Contribution(wraps={Model: lambda _: ScriptedModel()}))
    async with open_app(config.home, config, subsystems=(*SUBSYSTEMS, scripted, subsystem)) as app:
        await _check_contribution(subsystem, app)


async def _check_contribution(subsystem: Subsystem, app: App) -> None:
    _, contribution = app.features.opened[subsystem.name]
    declared = {spec.name: spec for group in subsystem.tools for spec in group.tools}
    brought = {spec.name: spec for toolset in contribution.toolsets for spec in toolset.specs()}
    other = sorted(name for name in declared.keys() | brought.keys() if declared.get(name) != brought.get(name))
    require(not other, f"its tools are as it declares them: {other}")
    for what in ("followers", "jobs", "channels", "hooks"):
        names = [each.name for each in getattr(contribution, what)]
        require(len(set(names)) == len(names), f"no two {what} share a name")
    require(bool(await app.operations.status()), "status can be told")
