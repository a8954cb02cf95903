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


def test_turn_loads_no_http_and_no_database() -> None:
    assert loaded("import hob.agent.turn.driver").isdisjoint({"httpx2", "starlette", "uvicorn", "apsw", "json_repair"})


def test_overview_of_commands_loads_no_command_line_library() -> None:
    assert loaded("from hob.cli.table import run; run(['--help'])").isdisjoint(HEAVY)


def test_overview_of_commands_loads_none_of_what_commands_are_made_of() -> None:
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


def test_lonely_one_shot_loads_nothing_of_what_few_questions_need() -> None:
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


def test_daemon_loads_what_judges_calls_with_the_first_of_them() -> None:
    found = loaded("import hob.app.daemon.daemon, hob.app.tools.lazy_runtime")
    assert found.isdisjoint({"decimal", "hob.guard.policy.call_analysis", "hob.guard.shell.tree"})
    assert found.isdisjoint({"hob.tools.sandbox.sandbox_environment", "hob.guard.screening.scanner.scanner", "difflib"})


def test_daemon_loads_the_routes_of_features_and_what_answers_them_when_somebody_asks() -> None:
    opening = "hob.app.memory.opening, hob.app.repositories.opening, hob.app.mcp.opening"
    found = loaded(f"import hob.app.daemon.daemon, {opening}")
    assert {"hob.gateway.lazy_ports", "hob.gateway.routes.table", "hob.tools.mcp.servers"} <= found
    answering = {"hob.gateway.memory", "hob.gateway.repositories", "hob.app.memory.control", "hob.tools.mcp.toolset"}
    assert found.isdisjoint({"hob.gateway.openai.table", "hob.gateway.routes.memory", *answering})


def test_listener_that_no_one_opens_a_websocket_at_loads_nothing_of_it() -> None:
    found = loaded(
        "import asyncio\nfrom hob.gateway.http.asgi import build_api\nfrom hob.gateway.http.listener import serve\n"
        "async def listen():\n    async with serve(build_api, [], grace=1): pass\nasyncio.run(listen())"
    )
    assert "hob.gateway.http.listener" in found
    assert found.isdisjoint({"websockets", "hob.gateway.live.connection"})
    assert found.isdisjoint({"uvicorn.main", "click", "multiprocessing", "gettext"})


def test_who_wants_all_of_uvicorn_beside_the_listener_has_it() -> None:
    assert "uvicorn.main" in loaded("import hob.gateway.http.listener, uvicorn\nassert uvicorn.run and uvicorn.Server")


def test_client_of_a_running_daemon_loads_no_settings_to_see_that_it_is_set_up(tmp_path: Path) -> None:
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
def test_prompt_library_is_loaded_by_the_chat_at_a_terminal_alone(module: str) -> None:
    assert loaded(f"import hob.{module}").isdisjoint({"prompt_toolkit", "rich", "markdown_it", "pygments"})
