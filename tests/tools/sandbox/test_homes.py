"""What a command leaves in its HOME does not affect the next one; its downloads may."""

from hob.tools.sandbox.environment_variables import search_path
from tests.tools.sandbox.conftest import Place

PLANTED = "mkdir -p ~/.local/bin && printf '#!/bin/sh\\necho HIJACKED' > ~/.local/bin/git && chmod +x ~/.local/bin/git"


async def test_files_left_in_home_are_not_seen_by_the_next_command(place: Place) -> None:
    await place.sh("echo '[alias] st = !echo HIJACKED' > ~/.gitconfig; echo x > ~/.npmrc; mkdir -p ~/.local/bin")
    assert await place.sh("find ~ -type f") == ""


async def test_program_in_home_does_not_shadow_the_systems(place: Place) -> None:
    said = await place.sh(f"{PLANTED}; git --version")
    assert "git version" in said
    assert "HIJACKED" not in said


async def test_downloads_are_available_to_the_next_command(wrapped: Place) -> None:
    await wrapped.sh("echo crate > ~/.cargo/registry/x; echo wheel > ~/.cache/pip/x", keeps_downloads=True)
    assert await wrapped.sh("cat ~/.cargo/registry/x ~/.cache/pip/x", keeps_downloads=True) == "crate\nwheel\n"


async def test_untrusted_command_cannot_write_to_the_caches(wrapped: Place) -> None:
    await wrapped.sh("echo crate > ~/.cargo/registry/x", keeps_downloads=True)
    said = await wrapped.sh(
        "cat ~/.cargo/registry/x; echo evil > ~/.cargo/registry/x; mkdir -p ~/.cache/pip && echo evil"
    )
    assert said.startswith("crate\n")
    assert (wrapped.sandbox_environment.caches / "cargo-registry/x").read_text() == "crate\n"
    assert not any((wrapped.sandbox_environment.caches / "pip").iterdir())


async def test_caches_are_neither_in_path_nor_read_as_configuration(wrapped: Place) -> None:
    said = await wrapped.sh("find ~ -type l -o -type d; echo; echo $PATH", keeps_downloads=True)
    found, path = said.strip().split("\n\n")
    assert not {"/home/hob/.config", "/home/hob/.local", "/home/hob/.cargo/bin"} & set(found.split())
    assert path.split(":") == [*search_path(()), "/home/hob/.local/bin"]
    assert not any(".caches" in each for each in path.split(":"))
