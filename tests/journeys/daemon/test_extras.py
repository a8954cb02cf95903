"""An idle daemon loads no library of an extra, so it is as small with the extras as without, but for 0.3 MiB."""

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

from tests.journeys.world import World

_NAME = re.compile(r"[\w.-]+")
_EXTRA = re.compile(r"""extra == ['"]""")
_LOADED = re.compile(r"^import time:.*\| +(\w+)", re.MULTILINE)


def needed(names: set[str]) -> set[str]:
    """Return these distributions and all that they need, without extras of theirs."""
    found: set[str] = set()
    while names - found:
        name = (names - found).pop()
        found.add(name)
        names = names | {_key(each) for each in _requirements(name) if not _EXTRA.search(each)}
    return found


def _requirements(name: str) -> Iterator[str]:
    try:
        yield from requires(name) or ()
    except PackageNotFoundError:
        return


def _key(requirement: str) -> str:
    match = _NAME.match(requirement)
    assert match is not None
    return re.sub(r"[-_.]+", "-", match[0]).lower()


async def test_idle_daemon_loads_no_library_of_an_extra(world: World) -> None:
    own = needed({"hob"})
    extra = needed({_key(each) for each in _requirements("hob") if _EXTRA.search(each)}) - own
    modules = {
        module
        for module, distributions in packages_distributions().items()
        if (keys := {_key(each) for each in distributions}) & extra and not keys & own
    }
    assert modules & {"mcp", "playwright", "trafilatura", "numpy", "cryptography"}
    async with world.serve(PYTHONPROFILEIMPORTTIME="1") as daemon:
        assert (await daemon.post("hello", session="main")).json()["reply"]
    loaded = set(_LOADED.findall((world.root / "stderr.log").read_text("utf-8")))
    assert {"hob", "apsw", "starlette"} <= loaded
    assert loaded & modules <= {"python_multipart"}  # `mcp` brings it, and Starlette imports it if it is there: 0.3 MiB
