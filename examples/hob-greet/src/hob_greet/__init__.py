"""A command in one file: `hob greet NAME --loud`."""

from collections.abc import Callable

from hob.plugin import CliCommand, Lazy, Subsystem


def greet(name: str, *, loud: bool = False) -> int:
    """Greet NAME; with --loud, so that they hear it."""
    text = f"Good day, {name}."
    print(text.upper() if loud else text)  # noqa: T201 - a command's output
    return 0


@Lazy
def _greet() -> Callable[..., object]:
    return greet


GREET = Subsystem(name="greet", cli=(CliCommand("greet", "Greet somebody.", _greet),))
