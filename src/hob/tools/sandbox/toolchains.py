"""Toolchains in the owner's home: those of their folders that commands must see."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path

from hob.core.errors import NotConfigured
from hob.core.translation.language import translatable
from hob.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Toolchain:
    """A toolchain's locations relative to the home. Of several matches of a pattern in `path`, the highest version is
    used.
    """

    folders: tuple[str, ...]
    path: tuple[str, ...]
    environ: Mapping[str, str] = field(default_factory=dict)


TOOLCHAINS: Mapping[str, Toolchain] = {
    "asdf": Toolchain((".asdf",), (".asdf/shims", ".asdf/bin"), {"ASDF_DATA_DIR": ".asdf"}),
    "bun": Toolchain((".bun/bin",), (".bun/bin",)),
    # not all of ~/.cargo, which also holds the registry credentials
    "cargo": Toolchain((".cargo/bin", ".rustup"), (".cargo/bin",), {"RUSTUP_HOME": ".rustup"}),
    "conda": Toolchain(("miniconda3", "miniforge3", "anaconda3"), ("mini*3/bin", "anaconda3/bin")),
    "deno": Toolchain((".deno/bin",), (".deno/bin",)),
    "go": Toolchain(("go/bin", "sdk"), ("sdk/go*/bin", "go/bin")),
    "local": Toolchain((".local/bin", ".local/share/uv", ".local/share/pipx", ".local/pipx"), (".local/bin",)),
    "mise": Toolchain((".local/share/mise",), (".local/share/mise/shims",), {"MISE_DATA_DIR": ".local/share/mise"}),
    "nvm": Toolchain((".nvm/versions",), (".nvm/versions/node/*/bin",)),
    "pyenv": Toolchain((".pyenv",), (".pyenv/shims", ".pyenv/bin"), {"PYENV_ROOT": ".pyenv"}),
    "rbenv": Toolchain((".rbenv",), (".rbenv/shims", ".rbenv/bin"), {"RBENV_ROOT": ".rbenv"}),
    "volta": Toolchain((".volta",), (".volta/bin",), {"VOLTA_HOME": ".volta"}),
}


@dataclass(frozen=True, slots=True)
class FoundTools:
    """The folders that commands may read, entries for PATH, and variables."""

    folders: tuple[Path, ...] = ()
    path: tuple[Path, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)


def find_toolchains(names: Iterable[str], home: Path) -> FoundTools:
    """Return the existing parts of these toolchains or folders.

    Raises NotConfigured for a name that is neither.
    """
    folders: list[Path] = []
    path: list[Path] = []
    environ: dict[str, str] = {}
    for name in names:
        known = TOOLCHAINS.get(name)
        if known is None:
            folder = _own_folder(name, home)
            folders.append(folder)
            path.append(folder / "bin" if (folder / "bin").is_dir() else folder)
            continue
        folders += [real for part in known.folders if (real := (home / part)).exists()]
        path += [place for pattern in known.path if (place := _highest(home, pattern))]
        environ |= {key: str(home / part) for key, part in known.environ.items() if (home / part).exists()}
    return FoundTools(tuple(folder.resolve() for folder in folders), tuple(place.resolve() for place in path), environ)


def _own_folder(name: str, home: Path) -> Path:
    folder = home / name[2:] if name.startswith("~/") else Path(name)
    if not folder.is_absolute():
        known = ", ".join(TOOLCHAINS)
        raise NotConfigured(
            translatable(
                "{name!r} is neither a toolchain Hob knows ({known}) nor an absolute folder", name=name, known=known
            )
        )
    if not folder.is_dir():
        raise NotConfigured(translatable("there is no folder {folder}", folder=folder))
    return folder


def _highest(home: Path, pattern: str) -> Path | None:
    found = sorted(home.glob(pattern), key=lambda place: [int(n) for n in re.findall(r"\d+", str(place))])
    return found[-1] if found else None
