"""Features are opened after what they need and closed backwards; what does not fit together is refused by name."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from hob.app.contribution import Contribution
from hob.app.features import open_subsystems
from hob.app.kernel import Kernel, open_kernel
from hob.app.settings.sections import SECTIONS
from hob.app.subsystem import Open, Subsystem
from hob.config.loading import load_config
from hob.core.errors import NotConfigured
from hob.core.lazy import Lazy
from hob.testing.clock import ManualClock


class Ink:
    """A port."""


class Paper:
    """Another port."""


@asynccontextmanager
async def a_kernel(home: Path) -> AsyncIterator[Kernel]:
    config = load_config(SECTIONS, home=home, environ={"HOB_WORKSPACE_PATH": str(home / "ws")})
    async with open_kernel(home, config, ManualClock(), one_shot=False) as kernel:
        yield kernel


class Features:
    """Makes features that note when they are opened and closed."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    def make(
        self,
        name: str,
        *,
        needs: tuple[type, ...] = (),
        after: tuple[str, ...] = (),
        provides: Mapping[type, object] | None = None,
        begin: Callable[[Kernel], None] = lambda kernel: None,
    ) -> Subsystem:
        @asynccontextmanager
        async def opening(kernel: Kernel) -> AsyncIterator[Contribution]:
            self.noted.append(f"+{name}")
            begin(kernel)
            try:
                yield Contribution(provides=provides or {})
            finally:
                self.noted.append(f"-{name}")

        def opens(kernel: Kernel) -> AbstractAsyncContextManager[Contribution]:
            return opening(kernel)

        def load() -> Open:
            return opens

        return Subsystem(name=name, needs=needs, after=after, open=Lazy(load))


async def test_features_open_after_what_they_need_and_close_backwards(tmp_path: Path) -> None:
    made = Features()
    letter = made.make("letter", needs=(Ink, Paper))
    pen, mill = made.make("pen", provides={Ink: Ink()}, after=("mill",)), made.make("mill", provides={Paper: Paper()})
    async with a_kernel(tmp_path) as kernel, open_subsystems(kernel, (letter, pen, mill)):
        assert made.noted == ["+mill", "+pen", "+letter"]
    assert made.noted[3:] == ["-letter", "-pen", "-mill"]


async def test_feature_reaches_only_declared_ports(tmp_path: Path) -> None:
    made, ink = Features(), Ink()

    def begin(kernel: Kernel) -> None:
        assert kernel.port(Ink) is ink
        with pytest.raises(KeyError):
            kernel.port(Paper)

    features = (
        made.make("pen", provides={Ink: ink}),
        made.make("mill", provides={Paper: Paper()}),
        made.make("letter", needs=(Ink,), begin=begin),
    )
    async with a_kernel(tmp_path) as kernel, open_subsystems(kernel, features) as opened:
        assert opened.port(Ink) is ink
        assert kernel.ports == {}


@pytest.mark.parametrize(
    ("features", "told"),
    [
        (lambda made: (made.make("pen", provides={Ink: Ink()}), made.make("brush", provides={Ink: Ink()})),
         "pen and brush both provide Ink"),
        (lambda made: (made.make("pen"), made.make("pen")), "two features are called pen"),
        (lambda made: (made.make("letter", needs=(Ink,)),), "letter needs Ink"),
        (lambda made: (made.make("a", needs=(Ink,), provides={Paper: Paper()}),
                       made.make("b", needs=(Paper,), provides={Ink: Ink()})), "a needs Ink; b needs Paper"),
        (lambda made: (made.make("a", after=("b",)), made.make("b", after=("a",))), "a needs b; b needs a"),
    ],
)  # fmt: skip
async def test_incompatible_features_are_refused_by_name(
    tmp_path: Path, features: Callable[[Features], tuple[Subsystem, ...]], told: str
) -> None:
    made = Features()
    async with a_kernel(tmp_path) as kernel:
        with pytest.raises(NotConfigured, match=told):
            async with open_subsystems(kernel, features(made)):
                pass
    opened = [name[1:] for name in made.noted if name.startswith("+")]
    assert [name[1:] for name in made.noted if name.startswith("-")] == opened[::-1]


async def test_order_after_a_missing_feature_is_ignored(tmp_path: Path) -> None:
    made = Features()
    async with a_kernel(tmp_path) as kernel, open_subsystems(kernel, (made.make("pen", after=("memory",)),)):
        assert made.noted == ["+pen"]
