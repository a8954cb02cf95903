"""Renews the translation catalogs: `python docs/catalog.py` writes the code's messages into each `.po` and compiles it.

New messages are added untranslated, and a test fails until they have a translation; unused ones are removed. The
English text is the message's id.
"""

import ast
import io
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import cache
from inspect import cleandoc
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from rich.console import Console

from hob.app.diagnostics.check import Severity
from hob.app.settings.sections import SECTIONS
from hob.app.subsystems import SLASH_COMMANDS, TOOL_GROUPS
from hob.cli.help_page import HelpPage
from hob.cli.table import ABOUT, COMMANDS, HEADINGS, build
from hob.config.fields import texts_of
from hob.core.errors import HobError
from hob.core.translation.language import CATALOG_FOLDER, DOMAIN, LANGUAGES
from hob.guard.policy.modes import ACTS
from hob.guard.policy.rule_names import RULES
from hob.guard.shell.places import ShellPlace

SOURCE = Path(CATALOG_FOLDER).parent
SAYING = {"translatable", "translate", "say", "_"}
"""Functions whose literal arguments are messages."""
OF_PACKAGES = {
    "app/diagnostics": {"critical", "warn", "info", "Check", "CheckResult", "Fix", "CheckSkipped"}
    | {"security_check", "_private"},
    "guard": {
        "ask",
        "refuse",
        "asks",
        "refuses",
        "_unless",
        "ShellFinding",
        "make",
        "Problem",
        "SyntaxProblem",
        "problem",
        "LexerError",
        "Ask",
    },
    "cli": {"confirm", "InvalidRequest", "NotFound", "HobError", "NotReady", "ServiceFailed", "NotConfigured"},
    "cli/onboarding": {"translated", "choose", "read", "read_secret", "show", "confirm", "SetupOutcome", "ModelTrial"},
    "cli/setup/onboard.py": {
        "translated",
        "choose",
        "read",
        "read_secret",
        "show",
        "confirm",
        "SetupOutcome",
        "ModelTrial",
    },
}
PLURALS = {"translate_plural", "ngettext"}
TABLES = {"_ADVICE", "_WHY", "KIND_NAMES", "ENGLISH", "DESCRIPTIONS", "STAGE_NAMES", "STATUS_NAMES"}
TABLES |= {"OWNER_FACTS", "OTHERS_FACTS"}
"""Tables whose values are messages."""
TEXTS = {"LABELS"}
"""Names of lists of messages."""
NAMED = {"title", "told", "question", "advice"}
"""Variables of the onboarding that contain messages."""


def messages() -> set[str | tuple[str, str]]:
    """Return every message that the code may show to a person; plural ones as pairs."""
    found: set[str | tuple[str, str]] = {place.value for place in ShellPlace}
    found |= {form for text in ACTS.values() for form in (text, f"it would {text}")}
    found |= set(RULES.values()) | {each.text for each in SLASH_COMMANDS}
    found |= {cleandoc(each.__doc__) for each in _errors() if each.__doc__}
    specs = [spec for group in TOOL_GROUPS for spec in group.tools]
    found |= {spec.description.partition("\n")[0] for spec in specs}
    roles = [each for spec in specs for each in (spec.roles, *(variant.roles for variant in spec.variants.values()))]
    found |= {each.says for each in roles if each and each.says}
    found |= set(texts_of(SECTIONS))
    found |= {*map(str, Severity), ABOUT, *HEADINGS.values(), *(text for _, text in COMMANDS), *_help_pages()}
    return found | _read()[0]


@cache
def _read() -> tuple[frozenset[str | tuple[str, str]], frozenset[str]]:
    """Return what the calls and tables of the code say, and all of its texts: any may reach a reader by a variable."""
    said: set[str | tuple[str, str]] = set()
    texts: set[str] = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        further = {each for package, names in OF_PACKAGES.items() if name.startswith(package) for each in names}
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        said.update(_said(nodes, SAYING | further, onboarding=name.startswith(("cli/", "app/diagnostics/"))))
        texts.update(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return frozenset(said), frozenset(texts)


def _errors(of: type[HobError] = HobError) -> Iterator[type[HobError]]:
    """Yield the error classes; their docstrings are their default messages."""
    yield of
    for each in of.__subclasses__():
        if each.__module__ == HobError.__module__:
            yield from _errors(each)


@cache
def _help_pages() -> frozenset[str]:
    """Return every text of every `--help`."""
    found: set[str] = set()

    def seen(text: str) -> str:
        found.add(text)
        return text

    app = build(HelpPage(seen))
    chains: list[list[str]] = [[]]
    while chains:
        chain = chains.pop()
        app.help_print(chain, console=Console(file=io.StringIO()))
        inner = app
        for name in chain:
            inner = inner[name]
        chains += [[*chain, name] for name in inner if not name.startswith("-")]
    return frozenset(found - {""})


def _said(nodes: Iterable[ast.AST], saying: set[str], *, onboarding: bool) -> Iterator[str | tuple[str, str]]:
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if any(map(_is_tool, node.decorator_list)):
                yield str(ast.get_docstring(node)).partition("\n")[0]
            case ast.Call():
                called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if called in PLURALS:
                    forms = [each.value for each in node.args[:2] if isinstance(each, ast.Constant)]
                    if len(forms) == 2:
                        yield str(forms[0]), str(forms[1])
                elif called in saying:
                    named = [each.value for each in node.keywords if each.arg == "told"]
                    for argument in (*node.args, *named):
                        yield from _texts(argument, words=called not in {"_", "translatable"})
            case ast.AnnAssign(target=ast.Name(id=table), value=ast.Dict() as value) if table in TABLES:
                for each in value.values:
                    yield from _texts(each, words=False)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if name in TEXTS:
                yield from _texts(value, words=False)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if onboarding and name in NAMED:
                yield from _texts(value, words=True)


def _is_tool(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "tool"


def _texts(node: ast.AST, *, words: bool) -> Iterator[str]:
    """Yield the texts in an expression; with `words`, only those of several words."""
    match node:
        case ast.Constant(value=str(text)) if (
            text.strip() and (" " in text or not words) and not text.startswith("hob ")
        ):
            yield text
        case ast.IfExp():
            yield from (*_texts(node.body, words=words), *_texts(node.orelse, words=words))
        case ast.BoolOp(values=several) | ast.List(elts=several) | ast.Tuple(elts=several):
            for each in several:
                yield from _texts(each, words=words)


def file_of(language: str, ending: str) -> Path:
    """Return the path of a language's catalog: translators write `po`, Hob reads `mo`."""
    return Path(CATALOG_FOLDER, language, "LC_MESSAGES", f"{DOMAIN}.{ending}")


def load(language: str) -> Catalog:
    """Load the translations of a language."""
    with file_of(language, "po").open("rb") as file:
        return read_po(file, locale=language)


def renewed(language: str) -> Catalog:
    """Return the catalog with exactly the code's current messages."""
    known, fresh = load(language), Catalog(locale=language, project="Hob", fuzzy=False, charset="utf-8")
    said = messages() | {entry.id for entry in known if entry.id in _read()[1]}
    for message in sorted(said, key=str):
        entry = known.get(message if isinstance(message, str) else message[0])
        fresh.add(message, entry.string if entry is not None and entry.string else None)
    return fresh


def written(catalog: Catalog) -> bytes:
    """Return the catalog as a `.po` file, without times and tools, which would change every day."""
    into = io.BytesIO()
    write_po(into, catalog, width=110, omit_header=True, sort_output=False)
    head = [
        "# What Hob says to people. `make catalog` renews this file; edit the translations.",
        'msgid ""',
        'msgstr ""',
        f'"Language: {catalog.locale}\\n"',
        '"Content-Type: text/plain; charset=utf-8\\n"',
        f'"Plural-Forms: {catalog.plural_forms}\\n"',
        "",
    ]
    return "\n".join(head).encode() + into.getvalue()


def compiled(language: str) -> bytes:
    """Return the `.mo` compiled from the `.po`."""
    into = io.BytesIO()
    catalog = load(language)
    # otherwise the file would change every day
    catalog.creation_date = catalog.revision_date = datetime(2026, 1, 1, tzinfo=UTC)
    write_mo(into, catalog)
    return into.getvalue()


def main() -> None:
    """Renew and compile every catalog; print untranslated messages."""
    for language in LANGUAGES[1:]:
        fresh = renewed(language)
        file_of(language, "po").write_bytes(written(fresh))
        file_of(language, "mo").write_bytes(compiled(language))
        for message in fresh:
            if message.id and not (all(message.string) if isinstance(message.string, tuple) else message.string):
                sys.stderr.write(f"{language}: {message.id}\n")


if __name__ == "__main__":
    main()
