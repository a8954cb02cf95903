"""What quick commands may load, so that importing stays lazy."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("asyncio", "httpx2", "apsw", "starlette", "uvicorn", "cyclopts", "rich", "tomlkit", "json_repair", "pydantic")


def loaded(code: str) -> set[str]:
    listing = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_package_itself_loads_nothing() -> None:
    assert loaded("import hob").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "module",
    ["hob.core.messages", "hob.core.steps", "hob.core.translation.sentences", "hob.agent.settings", "hob.providers"],
)
def test_vocabulary_loads_the_standard_library_alone(module: str) -> None:
    assert loaded(f"import {module}").isdisjoint(HEAVY)


def test_client_of_the_commands_is_light() -> None:
    assert loaded("import hob.app.daemon.unix_http").isdisjoint({"httpx2", "asyncio", "starlette", "uvicorn", "apsw"})


@pytest.mark.parametrize("module", ["hob.guard.screening.masking.mask", "hob.guard.screening.scanner.scanner"])
def test_screening_loads_no_table_of_entities(module: str) -> None:
    assert loaded(f"import {module}").isdisjoint({"html", "html.entities"})


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


@pytest.mark.parametrize(
    "command",
    [
        "conversation.ask",
        "daemon.status",
        "activity.usage",
        "activity.tasks",
        "activity.timeline",
        "conversation.retry",
        "conversation.prompt",
        "data.backup",
    ],
)
def test_command_that_finds_a_daemon_loads_no_application(command: str) -> None:
    found = loaded(f"import hob.cli.{command}")
    assert found.isdisjoint({"asyncio", "httpx2", "apsw", "starlette", "uvicorn", "hob.app.composition"})


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


@pytest.mark.parametrize(
    "module",
    [
        "cli.conversation.ask",
        "cli.daemon.serve",
        "cli.conversation.chat",
        "cli.chat.plain",
        "cli.chat.connection",
        "app.daemon.one_shot",
        "app.daemon.embedded_daemon",
    ],
)
def test_only_the_terminal_chat_loads_the_prompt_library(module: str) -> None:
    assert loaded(f"import hob.{module}").isdisjoint({"prompt_toolkit", "rich", "markdown_it", "pygments"})
