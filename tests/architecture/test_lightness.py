"""What quick commands may load, so that importing stays lazy."""

import subprocess
import sys
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

HEAVY = (
    "asyncio", "httpx2", "apsw", "starlette", "uvicorn", "cyclopts", "rich", "tomlkit", "json_repair", "orjson",
    "pydantic",
)  # fmt: skip


@cache
def loaded(code: str) -> frozenset[str]:
    return frozenset(output_of(f"import sys\n{code}\nprint(*sorted(sys.modules))").split())


def output_of(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def loaded_of(unwanted: Collection[str], modules: Sequence[str]) -> dict[str, set[str]]:
    """What they load of the unwanted, imported one after the other: the first that loads it."""
    program = f"""
import importlib, sys
for name in {modules!r}:
    known = set(sys.modules)
    importlib.import_module(name)
    print(name, *(sys.modules.keys() - known))
"""
    loaded_by = {name: found for name, *found in map(str.split, output_of(program).splitlines())}
    assert [*loaded_by] == [*modules]
    return {name: both for name, found in loaded_by.items() if (both := {*found} & {*unwanted})}


def test_unwanted_module_is_found_with_the_first_that_loads_it() -> None:
    assert loaded_of({"json", "xml"}, ["hob", "json.tool", "json"]) == {"json.tool": {"json"}}


def test_package_itself_loads_nothing() -> None:
    assert loaded("import hob").isdisjoint(HEAVY)


def test_vocabulary_loads_the_standard_library_alone() -> None:
    parts = ["core.messages", "core.steps", "core.translation.sentences", "agent.settings", "providers"]
    assert loaded_of(HEAVY, [f"hob.{part}" for part in parts]) == {}


def test_client_of_the_commands_is_light() -> None:
    assert loaded("import hob.app.daemon.unix_http").isdisjoint({"httpx2", "asyncio", "starlette", "uvicorn", "apsw"})


def test_screening_loads_no_table_of_entities() -> None:
    screening = ["hob.guard.screening.masking.mask", "hob.guard.screening.scanner.scanner"]
    assert loaded_of({"html", "html.entities"}, screening) == {}


def test_listening_at_an_address_loads_no_table_of_international_names() -> None:
    code = "from hob.gateway.http.sockets import bind_tcp; bind_tcp('127.0.0.1', 0).close()"
    assert loaded(code).isdisjoint({"encodings.idna", "stringprep"})


def test_turn_loads_neither_http_nor_database() -> None:
    assert loaded("import hob.agent.turn.driver").isdisjoint({"httpx2", "starlette", "uvicorn", "apsw", "json_repair"})


def test_overview_of_commands_loads_no_command_line_library() -> None:
    assert loaded("from hob.cli.table import run; run(['--help'])").isdisjoint(HEAVY)


def test_overview_of_commands_loads_no_command() -> None:
    found = loaded("from hob.cli.table import run; run(['--help'])")
    assert found.isdisjoint({"dataclasses", "inspect", "json", "logging", "gettext", "hob.core.errors"})


def test_question_without_options_loads_no_command_line_library() -> None:
    found = loaded("import sys; from hob.cli.table import run; sys.stderr = sys.stdout; run(['ask', ' '])")
    assert "hob.cli.conversation.ask" in found
    assert found.isdisjoint(HEAVY)


def test_command_that_finds_a_daemon_loads_no_application() -> None:
    commands = [
        "conversation.ask",
        "daemon.status",
        "activity.usage",
        "activity.tasks",
        "activity.timeline",
        "conversation.retry",
        "conversation.prompt",
        "data.backup",
    ]
    application = {"asyncio", "httpx2", "apsw", "starlette", "uvicorn", "hob.app.composition"}
    assert loaded_of(application, [f"hob.cli.{command}" for command in commands]) == {}


def test_lonely_one_shot_loads_no_http_server() -> None:
    found = loaded("import hob.app.daemon.one_shot")
    assert found.isdisjoint({"starlette", "uvicorn", "tomlkit", "rich", "pydantic", "hob.gateway.http.asgi"})


def test_lonely_one_shot_loads_nothing_rarely_needed() -> None:
    found = loaded("import hob.app.daemon.one_shot, hob.app.tools.lazy_runtime")
    rare = {
        "gettext",
        "hob.app.maintenance.metrics",
        "hob.app.maintenance.person_erasure",
        "hob.app.models.probe",
        "hob.app.plugins.installed",
        "hob.app.plugins.loading",
        "hob.app.plugins.manifest",
        "hob.gateway.openai.joined_requests",
        "hob.gateway.webhooks.receiver",
        "hob.providers.cli.program",
        "hob.store.backup.backup",
        "hob.store.backup.line_files",
    }
    assert found.isdisjoint(rare)


def test_daemon_loads_the_guard_with_the_first_judged_call() -> None:
    found = loaded("import hob.app.daemon.daemon, hob.app.tools.lazy_runtime")
    assert found.isdisjoint({"decimal", "hob.guard.policy.call_analysis", "hob.guard.shell.tree"})
    assert found.isdisjoint({"hob.tools.sandbox.sandbox_environment", "hob.guard.screening.scanner.scanner", "difflib"})


def test_daemon_loads_feature_routes_with_the_first_request() -> None:
    opening = "hob.app.memory.opening, hob.app.repositories.opening, hob.app.mcp.opening"
    found = loaded(f"import hob.app.daemon.daemon, {opening}")
    assert {"hob.gateway.lazy_ports", "hob.gateway.routes.table", "hob.tools.mcp.servers"} <= found
    answering = {"hob.gateway.memory", "hob.gateway.repositories", "hob.app.memory.control", "hob.tools.mcp.toolset"}
    assert found.isdisjoint({"hob.gateway.openai.table", "hob.gateway.routes.memory", *answering})


def test_listener_without_a_websocket_loads_no_websocket_library() -> None:
    found = loaded(
        "import asyncio\nfrom hob.gateway.http.asgi import build_api\nfrom hob.gateway.http.listener import serve\n"
        "async def listen():\n    async with serve(build_api, [], grace=1): pass\nasyncio.run(listen())"
    )
    assert "hob.gateway.http.listener" in found
    assert found.isdisjoint({"websockets", "hob.gateway.live.connection"})
    assert found.isdisjoint({"uvicorn.main", "click", "multiprocessing", "gettext"})


def test_full_uvicorn_package_is_available_beside_the_listener() -> None:
    assert "uvicorn.main" in loaded("import hob.gateway.http.listener, uvicorn\nassert uvicorn.run and uvicorn.Server")


def test_client_of_a_running_daemon_loads_no_settings(tmp_path: Path) -> None:
    (tmp_path / "hob.sock").touch()
    code = f"import os; os.environ['HOB_HOME'] = {str(tmp_path)!r}; "
    found = loaded(f"{code}from hob.cli.onboarding.first_run import lead_in; lead_in()")
    assert found.isdisjoint({*HEAVY, "hob.app.settings.sections", "prompt_toolkit"})


def test_only_the_terminal_chat_loads_the_prompt_library() -> None:
    others = [
        "cli.conversation.ask",
        "cli.daemon.serve",
        "cli.conversation.chat",
        "cli.chat.plain",
        "cli.chat.connection",
        "app.daemon.one_shot",
        "app.daemon.embedded_daemon",
    ]
    terminal = {"prompt_toolkit", "rich", "markdown_it", "pygments"}
    assert loaded_of(terminal, [f"hob.{module}" for module in others]) == {}
