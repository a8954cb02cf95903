"""The page without a browser: its texts, its lock file, and its committed build."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hob.agent.commands.table import COMMANDS
from hob.app.subsystems.memory import MEMORY_COMMANDS
from hob.app.subsystems.sessions import SESSIONS

WEB = Path(__file__).parents[2] / "web"
PLACES = ("canvas", "chat", "costs", "files", "memory", "settings", "timeline", "trace", "trust", "view", "work")
BUILD = Path(__file__).parents[2] / "src" / "hob" / "gateway" / "static"
TEXT = re.compile(r'\bt\(\s*"((?:[^"\\]|\\.)*)"')
PLURAL = re.compile(r'\btn\(\s*"([^"]*)",\s*"([^"]*)"')


def sources() -> list[Path]:
    return [each for each in (WEB / "src").rglob("*.ts*") if each.name != "de.ts"]


def test_every_text_of_the_page_has_a_german_translation() -> None:
    german = set(re.findall(r'^  "((?:[^"\\]|\\.)*)":', (WEB / "src" / "i18n" / "de.ts").read_text("utf-8"), re.M))
    texts = [file.read_text("utf-8") for file in sources()]
    wanted = {each for text in texts for each in TEXT.findall(text)}
    wanted |= {each for text in texts for forms in PLURAL.findall(text) for each in forms}
    assert sorted(wanted - german) == []


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


def test_first_load_is_at_most_150_kilobytes() -> None:
    """The first visit loads at most 150 kB, compressed; each place adds little."""
    import gzip

    first = [*BUILD.glob("*.*"), BUILD / "app" / "index.js", BUILD / "app" / "style.css"]
    assert sum(len(gzip.compress(each.read_bytes(), 6)) for each in first if each.is_file()) < 150_000


def test_each_place_adds_at_most_60_kilobytes() -> None:
    """Compressed, like the Markdown renderer, which is loaded on first use."""
    import gzip

    app = BUILD / "app"

    def loaded(name: str) -> set[str]:
        """Return a file and all its static imports."""
        found, left = set[str](), {name}
        while left:
            found |= left
            texts = [(app / each).read_text("utf-8") for each in left]
            left = {
                each for text in texts for each in re.findall(r"""(?:from|import)\s*["']\./([\w.-]+\.js)["']""", text)
            }
            left -= found
        return found

    first = loaded("index.js")
    for place in (*PLACES, "rich"):
        more = loaded(f"{place}.js") - first
        assert more, f"{place}.js loads nothing: is it called so?"
        assert sum(len(gzip.compress((app / each).read_bytes(), 6)) for each in more) <= (
            68_000 if place == "chat" else 60_000
        ), place


def test_page_contains_nothing_that_its_security_policy_forbids() -> None:
    html = (BUILD / "index.html").read_text("utf-8")
    assert re.findall(r"<script(?![^>]*\ssrc=)", html) == []
    assert "style=" not in html
    assert re.findall(r"(?:src|href)=\"(?!/)", html) == []


@pytest.mark.skipif(not (WEB / "node_modules").exists(), reason="make web brings the libraries")
def test_committed_build_matches_the_sources(tmp_path: Path) -> None:
    here = f"{Path(__file__).parents[2] / '.venv' / 'node'}:{os.environ['PATH']}"
    vite = [
        str(shutil.which("node", path=here)),
        "node_modules/vite/bin/vite.js",
        "build",
        "--outDir",
        str(tmp_path),
        "--logLevel",
        "error",
    ]
    subprocess.run(vite, cwd=WEB, check=True, timeout=120)
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
