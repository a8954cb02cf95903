"""Plug-ins that cannot be opened are taken out, and all else is opened."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from hob.app.contribution import Contribution
from hob.app.kernel import Kernel, open_kernel
from hob.app.plugins.installed import SUBSYSTEM, Installed
from hob.app.plugins.loading import Plugins, load_plugin, open_with
from hob.app.settings.sections import SECTIONS
from hob.app.subsystem import Open, Subsystem
from hob.app.subsystems import SUBSYSTEMS
from hob.config.loading import load_config
from hob.core.clock import SystemClock
from hob.core.errors import NotConfigured
from hob.core.lazy import Lazy
from hob.core.ports.guard import Judge
from hob.gateway.dashboard.endpoint_names import RESERVED
from hob.gateway.dashboard.state import health
from hob.gateway.http.endpoint import Endpoint
from hob.gateway.http.fields import Nothing
from hob.testing.toolset import AllowAll


class Port:
    """What several want to provide."""


def feature(name: str, contribution: Contribution, *needs: type) -> Subsystem:
    @asynccontextmanager
    async def opening(_: Kernel) -> AsyncIterator[Contribution]:
        yield contribution

    def load() -> Open:
        return opening

    return Subsystem(name=name, needs=needs, plugin=True, open=Lazy(load))


async def opened(home: Path, *features: Subsystem) -> tuple[set[str], dict[str, str]]:
    plugins = Plugins(features={each.name: each for each in features})
    config = load_config(SECTIONS, home=home, environ={"HOB_WORKSPACE_PATH": str(home / "w")})
    async with (
        open_kernel(home, config, SystemClock(), one_shot=False) as kernel,
        open_with(kernel, SUBSYSTEMS, plugins) as features_open,
    ):
        return set(features_open.opened), plugins.problems


async def test_two_plugins_that_provide_one_port_are_left_out_and_both_named(tmp_path: Path) -> None:
    provides = Contribution(provides={Port: Port()})
    names, problems = await opened(
        tmp_path, feature("one", provides), feature("two", provides), feature("fine", Contribution())
    )
    assert {each.name for each in SUBSYSTEMS} | {"fine"} == names
    assert problems.keys() == {"one", "two"}
    assert set(problems.values()) == {"one and two both provide Port; switch one off"}


async def test_plugin_with_an_unmet_need_is_left_out(tmp_path: Path) -> None:
    names, problems = await opened(tmp_path, feature("lonely", Contribution(), Port))
    assert names == {each.name for each in SUBSYSTEMS}
    assert "lonely needs Port" in problems["lonely"]


async def test_plugin_that_replaces_the_judge_is_left_out(tmp_path: Path) -> None:
    names, problems = await opened(tmp_path, feature("bold", Contribution(wraps={Judge: lambda _: AllowAll()})))
    assert names == {each.name for each in SUBSYSTEMS}
    assert "which is not allowed" in problems["bold"]


def with_route(path: str) -> Subsystem:
    return Subsystem(name="late", plugin=True, api_v1=Lazy(lambda: (Endpoint("GET", path, health, None, Nothing),)))


@pytest.mark.parametrize("path", [*RESERVED, "skills/{id}", "boards/mine/cards"])
def test_plugin_cannot_claim_a_reserved_route(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    late = Installed("late", ("late",), "1.0", {SUBSYSTEM: EntryPoint("late", f"{__name__}:LATE", SUBSYSTEM)})
    monkeypatch.setitem(globals(), "LATE", with_route("/api/v1/later"))
    assert load_plugin(late).name == "late"
    monkeypatch.setitem(globals(), "LATE", with_route(f"/api/v1/{path}"))
    with pytest.raises(NotConfigured, match=f"late brings /api/v1/{path}, which Hob itself has"):
        load_plugin(late)
