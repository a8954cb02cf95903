"""What the pages say exists."""

import ast
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from cyclopts import CycloptsError, MissingArgumentError

from hob.agent.commands.table import parse
from hob.app.endpoints import ENDPOINTS
from hob.app.settings.sections import SECTIONS
from hob.app.subsystems import SLASH_COMMANDS
from hob.cli.table import build
from hob.config.fields import find_setting

from .pages import ROOT, Page, inline_calls, page, pages, shell_calls


def each_page(check: Callable[[Page], None]) -> Callable[[], None]:
    """The test for all pages at once: a test of its own for each page costs more than the check."""

    def test() -> None:
        for each in pages():
            check(each)

    test.__name__ = check.__name__
    return test


@each_page
def test_every_link_leads_to_a_file_and_heading(each: Page) -> None:
    broken = []
    for link in each.links():
        file, _, anchor = link.partition("#")
        target = (each.path.parent / file).resolve() if file else each.path
        if not target.exists() or (anchor and anchor not in Page(target).headings()):
            broken.append(link)
    assert broken == []


@each_page
def test_every_command_line_is_understood(each: Page) -> None:
    assert [(call, problem) for call in shell_calls(each) if (problem := complaint(call))] == []


@each_page
def test_every_command_that_is_named_exists(each: Page) -> None:
    # a mention may leave out what the command needs
    calls = inline_calls(each)
    assert [(call, problem) for call in calls if (problem := complaint(call, whole=False))] == []


command_line = cache(build)


def complaint(call: list[str], *, whole: bool = True) -> str:
    """What the command line says about this call, or nothing."""
    return _complaint(tuple(call), whole=whole)


@cache  # pages repeat each other's calls
def _complaint(call: tuple[str, ...], *, whole: bool) -> str:
    if call in ((), ("--help",), ("--version",)):
        return ""
    try:
        command_line().parse_args(list(call), print_error=False, exit_on_error=False)
    except MissingArgumentError as error:
        return str(error) if whole else ""
    except CycloptsError as error:
        return str(error)
    return ""


def test_command_line_is_really_asked() -> None:
    assert complaint(["ask", "hi", "--sesion", "x"])
    assert complaint(["sreve"])
    assert complaint(["tasks", "--limit", "many"])
    assert complaint(["backup"])
    assert complaint(["backup"], whole=False) == ""


def test_reference_shows_every_command_as_it_is_taken() -> None:
    lines = [block.strip() for block in page("docs/reference/commands.md").blocks("text") if block.startswith("hob ")]
    plain = [re.sub(r"\|[\w|-]+", "", re.sub(r"[\[\]]", "", line)) for line in lines]
    calls = [re.sub(r"\b(LIMIT|DAYS|HOURS|MONTHLY|BEFORE)\b", "5", line).split()[1:] for line in plain]
    assert len(calls) > 15
    assert [(call, problem) for call in calls if (problem := complaint(call))] == []


@each_page
def test_every_make_target_exists(each: Page) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    named = re.findall(r"^make ([\w-]+)", "\n".join(each.blocks("sh")), re.MULTILINE)
    named += [match.group(1) for code in each.inline() if (match := re.match(r"make ([\w-]+)", code))]
    assert set(named) <= targets


def test_readme_has_two_commands_for_a_fresh_machine() -> None:
    first = page("README.md").blocks("sh")[0]
    assert re.findall(r"^make (\w+)", first, re.MULTILINE) == ["run", "test"]


@each_page
def test_every_setting_that_is_named_exists(each: Page) -> None:
    sections = "|".join(SECTIONS)
    key = re.compile(rf"(?:{sections})\.(?!py$)[a-z_]+(?:\.[A-Za-z_]+)*")
    keys = [code for code in each.inline() if key.fullmatch(code)]
    assert [key for key in keys if find_setting(SECTIONS, tuple(key.split("."))) is None] == []


@each_page
def test_every_file_that_is_named_exists(each: Page) -> None:
    paths = [code for code in each.inline() if re.match(r"(?:src|tests|docs|benchmarks)/", code)]
    named = [path.partition("::")[0] for path in paths if "0.2" not in path and "NNNN" not in path]
    assert [path for path in named if not (ROOT / path).exists()] == []


@each_page
def test_every_slash_command_that_is_named_exists(each: Page) -> None:
    routes = {"ws"} | {endpoint.path.split("/")[1] for endpoint in ENDPOINTS}
    known = {command.name for command in SLASH_COMMANDS} | routes
    named = [parsed[0] for code in each.inline() if (parsed := parse(code))]
    assert [name for name in named if name not in known and name != "word"] == []


def test_every_slash_command_is_documented() -> None:
    text = page("docs/reference/commands.md").text
    assert [command.name for command in SLASH_COMMANDS if f"| `/{command.name}" not in text] == []


def test_every_promise_of_durability_names_tests_that_exist() -> None:
    sections = re.split(r"^## (?=\d)", page("docs/explanation/durability.md").text, flags=re.MULTILINE)[1:]
    assert [section[0] for section in sections] == [str(n) for n in range(1, 10)]
    for section in sections:
        shown = section.partition("Shown by ")[2].split("\n\n")[0]
        named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", shown)
        assert named, f"no test shows: {section.splitlines()[0]}"
        assert [test for file, test in named if test not in shown_in(ROOT / file)] == []


@cache
def shown_in(file: Path) -> frozenset[str]:
    """Test functions, and classes that a state machine was assigned to."""
    found = set()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return frozenset(name for name in found if name.lower().startswith("test"))


def test_every_page_is_in_the_index() -> None:
    index = page("docs/README.md")
    linked = {(index.path.parent / link).resolve() for link in index.links()}
    apart = {index.path, ROOT / "README.md"}
    assert [
        each.name for each in pages() if each.path not in linked | apart and each.path.name != "benchmarks.md"
    ] == []
