"""What must never happen (architecture, section 3), read from the syntax trees."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from tests.architecture.sources import PACKAGE, ROOT, Source, functions, sources

SQL = re.compile(r"^\s*(SELECT|INSERT|UPDATE|DELETE FROM|CREATE (TABLE|INDEX)|PRAGMA|BEGIN|COMMIT)\b")
WALLS = {
    "agent/turn/hooks.py": "the hook call",
    "agent/turn/tool_calls.py": "the tool call",
    "bus/delivery.py": "the channel",
    "bus/turn_runner.py": "the job: one turn's defect is not the others'",
    "bus/session_commands.py": "the job: a command",
    "bus/worker_pool.py": "the job: a session",
    "app/diagnostics/report.py": "the check: what it stumbles over is a finding",
    "app/daemon/background_tasks.py": "the job: what nobody waits for",
    "app/jobs.py": "the job",
    "app/followers.py": "the job: a follower",
    "app/imports/conversations.py": "the reader: somebody else's code, maybe, reads what anybody wrote",
    "app/logs/log_file.py": "the log: what cannot be written down breaks nothing",
    "providers/routing/failover_model.py": "the route: what an odd answer or a plug-in breaks is that route's failure",
    "app/plugins/loading.py": "the plug-in: somebody else's code",
    "providers/plugins.py": "the plug-in: somebody else's code",
    "store/database/jobs.py": "the job of a database thread, whose error goes to its caller",
}
EDGES = ("tools/web/", "tools/mcp/", "memory/er1/", "memory/knowledge/", "memory/json_answer.py")
HTTP = {"httpx2", "starlette", "uvicorn", "httptools"}


def test_sql_is_in_the_store_only() -> None:
    found = [
        f"{source.name}:{node.lineno}"
        for source in sources()
        if source.row not in {"store"}
        for node in source.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.match(node.value)
    ]
    assert found == []


def test_environment_is_read_in_config_only() -> None:
    found = [
        f"{source.name}:{node.lineno}"
        for source in sources()
        if source.row != "config"
        for node in source.nodes
        if isinstance(node, ast.Attribute)
        and node.attr in {"environ", "getenv"}
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    ]
    assert found == []


def test_broad_excepts_are_at_the_walls_only() -> None:
    broad = {
        source.name
        for source in sources()
        for node in source.nodes
        if isinstance(node, ast.ExceptHandler) and _is_broad(node)
    }
    assert broad <= WALLS.keys()


def _is_broad(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    named = [handler.type] if isinstance(handler.type, ast.Name) else getattr(handler.type, "elts", [])
    broad = {"Exception", "BaseException"}
    reraises = any(isinstance(node, ast.Raise) and node.exc is None for node in ast.walk(handler))
    return not reraises and any(isinstance(name, ast.Name) and name.id in broad for name in named)


OPENS_DATABASE = {
    "store/database/database.py": "looks at the header before the connection is opened",
    "store/database/reading.py": "copies a database that no process has open",
    "store/database/disk.py": "creates the file before the connection is opened, and syncs folders",
    "store/backup/inspection.py": "copies a database that no process has open",
    "store/backup/salvage.py": "creates the file to salvage into",
    "store/backup/foreign.py": "copies another program's database",
}
"""Modules of the store that open files beside SQLite: closing any descriptor of a database drops all its locks."""


def test_only_sqlite_opens_the_database_of_a_running_hob() -> None:
    found = {
        source.name
        for source in sources()
        for node in source.nodes
        if isinstance(node, ast.Call) and _opens_file(node)
        if source.name.startswith("store/database/") or any(map(_imports_database_name, source.nodes))
    }
    assert found <= OPENS_DATABASE.keys() | OPENS_OTHER_FILES.keys()


OPENS_OTHER_FILES = {
    "app/diagnostics/security_facts.py": "tightens the modes of files while no daemon runs (`--fix`)",
    "store/audit/audit.py": "writes the head of the audit log",
    "store/backup/backup.py": "reads and writes the files that go with a backup",
}
"""Modules that know the database's name and open other files, or it while no daemon runs."""


def _imports_database_name(node: ast.AST) -> bool:
    names = {"NAME", "SIDES"}
    module = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("hob.store.database")
    return module and any(each.name in names for each in node.names)  # type: ignore[attr-defined]


def _opens_file(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if isinstance(call.func, ast.Name):
        return name == "open"
    owner = getattr(call.func, "value", None)
    if isinstance(owner, ast.Name) and owner.id in {"os", "shutil"}:
        return name in {"open", "copyfile", "copy", "copy2", "copyfileobj", "sendfile"}
    return name in {"read_bytes", "write_bytes"} or (name == "open" and bool(call.args or call.keywords))


def test_every_task_has_a_task_group() -> None:
    found = [
        f"{source.name}:{node.lineno}"
        for source in sources()
        for node in source.nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"create_task", "ensure_future"}
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id in {"asyncio", "loop"}
    ]
    assert found == []


def test_http_stays_at_the_edges() -> None:
    found = [
        f"{source.name}: {name}"
        for source in sources()
        if source.row not in {"gateway", "providers", "channels", "testing"}
        if source.name != "plugin/http.py" and not source.name.startswith(EDGES)
        for node in source.nodes
        for name in _imported(node)
        if name.split(".")[0] in HTTP
    ]
    assert found == []


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return [node.module]
    return []


def test_nothing_is_imported_for_type_checkers_only() -> None:
    found = [
        source.name
        for source in sources()
        for node in source.nodes
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        # what a declaration leads to, and parts that are loaded with the first call
        if source.name
        not in {"app/tools/lazy_runtime.py", "app/subsystem.py", "app/mcp/port.py", "gateway/lazy_ports.py"}
    ]
    assert found == []


def test_no_module_has_a_catch_all_name() -> None:
    drawers = {"utils", "util", "helpers", "common", "manager", "managers", "misc", "types", "base"}
    assert [source.name for source in sources() if source.path.stem in drawers] == []


def test_test_folders_mirror_the_source() -> None:
    scenarios = {"guard/attacks", "guard/daily", "guard/roles"}
    tests = ROOT / "tests"
    for folder in {file.parent for file in tests.rglob("test_*.py") if "node_modules" not in file.parts}:
        name = str(folder.relative_to(tests))
        assert len(list(folder.glob("test_*.py"))) <= 20, f"{name} is flat"
        if (PACKAGE / name.split("/")[0]).is_dir() and name not in scenarios:
            assert (PACKAGE / name).is_dir(), f"{name} is no folder of the source"


def test_no_folder_of_the_source_is_flat() -> None:
    folders = Counter(source.path.parent for source in sources() if source.path.name != "__init__.py")
    assert [str(folder) for folder, modules in folders.items() if modules > 20] == []


def test_one_name_is_given_to_one_class() -> None:
    shared = {"Deny"}  # what a hook decides, for plug-ins, and what the guard does
    named = Counter(
        node.name
        for source in sources()
        if source.row != "testing"
        for node in source.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, classes in named.items() if classes > 1} == shared


def test_every_public_name_has_a_docstring() -> None:
    assert [name for source in sources() for name in _without_promise(source)] == []


def _without_promise(source: Source) -> Iterator[str]:
    if source.path.name != "__main__.py" and not ast.get_docstring(source.tree):
        yield source.name
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_") or ast.get_docstring(node):
                continue
            yield f"{source.name}: {node.name}"


def test_ports_stay_small() -> None:
    lines = sum(len(source.path.read_text().splitlines()) for source in sources() if "core/ports/" in source.name)
    assert lines <= 500


def test_functions_have_at_most_sixty_lines() -> None:
    long = [
        f"{source.name}: {function.name} has {length} lines"
        for source in sources()
        for function in functions(source)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > 60
    ]
    assert long == []


def test_no_module_defines_getattr() -> None:
    found = [
        source.name
        for source in sources()
        for node in source.tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
    ]
    assert found == []


def test_no_module_is_loaded_by_a_name_in_a_string() -> None:
    """Neither type checkers nor the contracts between layers see such an import; a `Lazy` holds one they see."""
    found = [
        f"{source.name}:{node.lineno}"
        for source in sources()
        for node in source.nodes
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"import_module", "importlib.import_module"}
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and str(node.args[0].value).startswith("hob")
    ]
    assert found == []
