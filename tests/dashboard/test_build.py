"""The page without a browser: its texts, its lock file, and its committed build."""

import gzip
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from hob.agent.commands.table import COMMANDS
from hob.app.subsystems.memory import MEMORY_COMMANDS
from hob.app.subsystems.sessions import SESSIONS

WEB = Path(__file__).parents[2] / "web"
PLACES = ("canvas", "chat", "costs", "files", "memory", "settings", "timeline", "trace", "trust", "view", "work")
BUILD = Path(__file__).parents[2] / "src" / "hob" / "gateway" / "static"
IMPORT = re.compile(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""")
SOURCE = re.compile(r"""^(?:import|export)\b[^";]*"(\.[^"]+)";$""", re.M)
TEXT = re.compile(r'\bt\(\s*"((?:[^"\\]|\\.)*)"')
PLURAL = re.compile(r'\btn\(\s*"([^"]*)",\s*"([^"]*)"')


def sources() -> list[Path]:
    return [each for each in (WEB / "src").rglob("*.ts*") if not each.name.startswith("de")]


def first_sources() -> set[Path]:
    """Return the sources of the first load: the page's entry and all its static imports."""
    found, left = set[Path](), {WEB / "src" / "main.tsx"}
    while left:
        found |= left
        named = {(file.parent / each).resolve() for file in left for each in SOURCE.findall(file.read_text("utf-8"))}
        near = {Path(f"{each}{end}") for each in named for end in (".ts", ".tsx", "/index.ts")}
        left = {each for each in near if each.is_file()} - found
    return found


def texts_of(files: Iterable[Path]) -> set[str]:
    texts = [file.read_text("utf-8") for file in files]
    plurals = {each for text in texts for forms in PLURAL.findall(text) for each in forms}
    return plurals | {each for text in texts for each in TEXT.findall(text)}


def german(catalog: str) -> set[str]:
    text = (WEB / "src" / "i18n" / f"{catalog}.ts").read_text("utf-8")
    return set(re.findall(r'^  "((?:[^"\\]|\\.)*)":', text, re.M))


def test_every_text_of_the_page_has_one_german_translation() -> None:
    assert sorted(texts_of(sources()) - german("de") - german("de-places")) == []
    assert german("de") & german("de-places") == set()


def test_texts_of_the_first_load_are_in_the_catalog_loaded_with_it() -> None:
    assert len(first_sources()) > 10
    assert sorted(texts_of(first_sources()) - german("de")) == []


def test_counted_texts_have_a_singular_form() -> None:
    counted = [
        text for file in sources() for text in TEXT.findall(file.read_text("utf-8")) if text.startswith("{count} ")
    ]
    same = {"couldn't be checked", "pruned", "new", "queued", "running", "set", "undelivered"}
    assert {text.removeprefix("{count} ") for text in counted} == same


def test_no_place_imports_another_place() -> None:
    crossing = [
        f"{file.relative_to(WEB)}: {found}"
        for file in (WEB / "src" / "places").rglob("*.ts*")
        for found in re.findall(r'from "\.\./(?!\.\./(?:api|parts|i18n))([^"]+)"', file.read_text("utf-8"))
    ]
    assert crossing == []


def test_lock_file_names_only_the_public_registry() -> None:
    packages = json.loads((WEB / "package-lock.json").read_text("utf-8"))["packages"]
    places = {each["resolved"].split("/")[2] for each in packages.values() if "resolved" in each}
    assert places <= {"registry.npmjs.org"}


def test_service_worker_caches_every_file_of_the_page() -> None:
    kept = (BUILD / "sw.js").read_text("utf-8")
    assert [each.name for each in (BUILD / "app").iterdir() if f'"/app/{each.name}"' not in kept] == []


APP = BUILD / "app"


def loaded(name: str) -> set[Path]:
    """Return a file of the page and all its static imports."""
    found, left = set[Path](), {APP / name}
    while left:
        found |= left
        texts = [each.read_text("utf-8") for each in left]
        left = {APP / each for text in texts for each in IMPORT.findall(text)} - found
    return found


def packed(files: Iterable[Path]) -> int:
    """Return the bytes that are sent for these files: compressed, as the daemon does it."""
    return sum(len(gzip.compress(each.read_bytes(), 6)) for each in files)


def test_first_load_is_at_most_150_kilobytes() -> None:
    """In German, which loads its texts too; English is part of the code."""
    head = [BUILD / each for each in ("index.html", "theme.js", "icon.svg", "manifest.webmanifest")]
    assert packed([*head, APP / "style.css", *loaded("base.js"), *loaded("de.js")]) <= 150_000


@pytest.mark.parametrize("part", [*PLACES, "rich"])
def test_each_place_adds_at_most_60_kilobytes(part: str) -> None:
    """So does the Markdown renderer, which is loaded once, with the first Markdown shown in any place."""
    more = loaded(f"{part}.js") - loaded("base.js")
    assert more, f"{part}.js loads nothing: is it called so?"
    assert packed(more) <= 60_000


def test_page_can_be_installed() -> None:
    manifest = json.loads((BUILD / "manifest.webmanifest").read_text("utf-8"))
    assert (manifest["display"], manifest["start_url"], manifest["name"]) == ("standalone", "/", "Hob")
    icons = {each["sizes"]: BUILD / each["src"].lstrip("/") for each in manifest["icons"]}
    assert {"192x192", "512x512"} <= set(icons)
    assert all(each.is_file() for each in icons.values())
    assert 'rel="manifest"' in (BUILD / "index.html").read_text("utf-8")
    assert 'addEventListener("fetch"' in (BUILD / "sw.js").read_text("utf-8")


def test_page_contains_nothing_that_its_security_policy_forbids() -> None:
    html = (BUILD / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\ssrc=)", html) == []
    assert "style=" not in html
    assert re.findall(r"(?:src|href)=\"(?!/)", html) == []


def node(*arguments: str) -> None:
    """Run Node in `web`; raises if it fails, after showing what it printed."""
    path = f"{Path(__file__).parents[2] / '.venv' / 'node'}:{os.environ['PATH']}"
    ran = subprocess.run(
        [str(shutil.which("node", path=path)), *arguments], cwd=WEB, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


BUILDS = pytest.mark.skipif(not (WEB / "node_modules").exists(), reason="make web brings the libraries")


@BUILDS
def test_page_fits_the_types_of_the_api() -> None:
    node("node_modules/typescript/bin/tsc", "--noEmit")


@BUILDS
def test_committed_build_matches_the_sources(tmp_path: Path) -> None:
    node("node_modules/vite/bin/vite.js", "build", "--outDir", str(tmp_path), "--logLevel", "error")
    built = {str(each.relative_to(tmp_path)): each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    kept = {str(each.relative_to(BUILD)): each.read_bytes() for each in BUILD.rglob("*") if each.is_file()}
    assert sorted(built) == sorted(kept), "run make web"
    assert [name for name in built if built[name] != kept[name]] == [], "run make web"


def test_page_offers_exactly_the_existing_slash_commands() -> None:
    text = (WEB / "src" / "parts" / "commands.ts").read_text("utf-8")
    listed = dict(re.findall(r'^  \["([^"]*)", "([^"]*)"\],$', text, re.M))
    rows = [*COMMANDS, *(each.row for part in (MEMORY_COMMANDS, SESSIONS) for each in part.slash_commands)]
    assert listed == {row.usage: str(row.text) for row in rows}


def test_page_preloads_the_code_of_every_place() -> None:
    listed = re.search(r'\[("canvas".*?)\]', (WEB / "public" / "theme.js").read_text("utf-8"))
    assert listed is not None
    assert json.loads(f"[{listed[1]}]") == list(PLACES)
