"""What commands say, and the errors they show, can be said in every language."""

import ast
import re
from collections.abc import Collection, Iterator

import pytest

import hob.core.errors
from docs import catalog
from hob.app.subsystems import SLASH_COMMANDS
from hob.core.errors import HobError

from .sources import Source, sources

TRANSLATING = {"_", "ngettext", "translatable", "translate", "say"}
NOT_SAID = {"Parameter", "App", "load", "compile", "partition", "info", "warning", "error", "parse_and_bind"}
"""Calls whose texts are help pages (which the catalog collects), log lines, names or patterns."""
NAMES = {"Google Gemini", "LM Studio", "Claude Code", "Gemini CLI", "Copilot CLI", " pull", ": hob ", "slash command "}
COMMANDS = re.compile(r"`[^`]*`|\b(hob|docker|uv|git|python|pip) [A-Za-z. -]+|[A-Z_]{2,}|https?://\S+|--\w+")
STYLES = re.compile(r"(bold|bg:|session |undo |# |was sich|\{\{)")
"""Styles of the screen, slash commands, the heading of a file, and a sample in JSON."""
SEVERAL_WORDS = re.compile(r"[A-Za-z]{2,}[,;:.]? +[A-Za-z]{2,}|^[,;:]? [a-z]{3,}")
FOR_PEOPLE = ("agent", "app", "bus", "cli", "config", "guard", "memory", "providers", "store", "workspace")
SHOWN = {name for name, each in vars(hob.core.errors).items() if isinstance(each, type) and issubclass(each, HobError)}
TO_MODELS = {"ToolFailed", "InvalidCall", "ToolRefused", "ModelError"}
DEFECTS = {"IllegalMove"}


def messages() -> set[str]:
    said: set[str] = set()
    for entry in catalog.load("de"):
        said.update(entry.id if isinstance(entry.id, list | tuple) else [str(entry.id)])
    return said


MESSAGES = messages()


def untranslated(nodes: Collection[ast.AST]) -> Iterator[ast.Constant]:
    """Texts of several words that are no message; those in an f-string are none, whatever they say."""
    skipped: set[int] = set()
    for node in nodes:
        called = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Expr) or called in TRANSLATING | NOT_SAID:
            skipped.update(map(id, ast.walk(node) if called else [node.value]))  # type: ignore[attr-defined]
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            text = COMMANDS.sub("", node.value)
            if SEVERAL_WORDS.search(text) and not STYLES.match(text) and node.value not in MESSAGES | NAMES:
                yield node


def said_untranslated(source: Source, argument: ast.expr) -> list[str]:
    return [f"{source.name}:{each.lineno}: {each.value!r}" for each in untranslated(list(ast.walk(argument)))]


def test_command_output_is_translatable() -> None:
    found = [
        f"{source.name}:{node.lineno}: {node.value!r}"
        for source in sources()
        if source.row == "cli"
        for node in untranslated(source.nodes)
    ]
    assert found == []


@pytest.mark.parametrize("package", FOR_PEOPLE)
def test_errors_that_commands_show_are_translatable(package: str) -> None:
    found = []
    for source in sources():
        for node in source.nodes if source.row == package else ():
            match node:
                case ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=[first, *_])) if name in SHOWN - DEFECTS:
                    if name not in TO_MODELS:
                        found += said_untranslated(source, first)
    assert found == []


def test_reasons_in_import_plans_are_translatable() -> None:
    found = []
    for source in sources():
        for node in source.nodes if source.name.startswith("app/imports/") else ():
            match node:
                case ast.Call(func=ast.Name(id="SkippedItem") | ast.Attribute(attr="ended"), args=[_, reason]):
                    found += said_untranslated(source, reason)
    assert found == []


def test_rules_of_settings_are_translatable() -> None:
    found = []
    for source in sources():
        for node in source.nodes if source.path.name == "settings.py" else ():
            match node:
                case ast.Raise(exc=ast.Call(func=ast.Name(id="ValueError"), args=[first, *_])):
                    found += said_untranslated(source, first)
    assert found == []


def test_slash_commands_of_features_are_translatable() -> None:
    assert [each.name for each in SLASH_COMMANDS if each.text not in MESSAGES] == []


def test_translations_are_in_the_catalogues_only() -> None:
    """Two tables of sentences by language stood beside them, which a third language would have missed."""
    found = [
        f"{source.name}:{node.lineno}"
        for source in sources()
        if source.row != "testing"
        for node in source.nodes
        if isinstance(node, ast.Dict)
        and {"en", "de"} <= {key.value for key in node.keys if isinstance(key, ast.Constant)}
    ]
    assert found == []


def test_text_that_is_not_translated_is_found() -> None:
    code = """
print("Nothing was foreseen here.")
print(f"{count} things were found")
print(_("Nothing was changed."), f"{file}: {reason}", "hob service status")
"""
    assert [node.lineno for node in untranslated(list(ast.walk(ast.parse(code))))] == [2, 3]
