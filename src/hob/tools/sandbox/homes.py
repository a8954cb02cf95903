"""The HOME of a command: empty, and gone with it.

What lies in a home steers programs (~/.gitconfig, ~/.config/pip, ~/.local/bin), so what one command writes there must
not meet the next, which may be another person's, or may have network. Only what was downloaded is kept, and apart.
"""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

# By folder of the caches: where it stands in a home. None of them is in PATH, or read as configuration.
PACKAGES: Mapping[str, str] = {
    "cargo-registry": ".cargo/registry",
    "cargo-git": ".cargo/git",
    "go": "go/pkg/mod",
    "maven": ".m2/repository",
}
"""Without these nothing can be built when there is no network."""
DOWNLOADS: Mapping[str, str] = {"pip": ".cache/pip", "uv": ".cache/uv", "npm": ".npm/_cacache"}
"""These save time; their tools cannot do with a cache that is read-only."""


def make_caches(folder: Path) -> None:
    """Make the folders of the caches. Raises OSError."""
    for name in (*PACKAGES, *DOWNLOADS):
        (folder / name).mkdir(mode=0o700, parents=True, exist_ok=True)


def cache_links(keeps: bool) -> Iterator[tuple[str, str]]:
    """Names of caches and their places in a home, of a command that may change them, or may only read."""
    yield from PACKAGES.items()
    if keeps:
        yield from DOWNLOADS.items()


def empty_file(state: Path) -> Path:
    """What stands in the place of a file that a command shall not read. Raises OSError."""
    path = state / "empty"
    if not path.exists():
        path.touch(mode=0o444)
    return path


@dataclass(frozen=True, slots=True)
class Scratch:
    """Folders of a command without a file system of its own: its HOME, and what is its /tmp."""

    home: Path
    temporary: Path


def make_scratch(state: Path, after: ExitStack) -> Scratch:
    """Empty ones, which are removed at the end. Raises OSError."""
    folder = Path(tempfile.mkdtemp(dir=state, prefix="scratch-"))
    after.callback(shutil.rmtree, folder, ignore_errors=True)
    scratch = Scratch(folder / "home", folder / "tmp")
    scratch.home.mkdir()
    scratch.temporary.mkdir()
    return scratch
