"""What quick commands may load, so that importing stays lazy."""

import subprocess
import sys

import pytest

HEAVY = ("asyncio", "httpx2", "apsw", "starlette", "uvicorn", "cyclopts", "rich", "tomlkit", "json_repair", "pydantic")


def loaded(code: str) -> set[str]:
    listing = f"import sys\n{code}\nprint(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_package_itself_loads_nothing() -> None:
    assert loaded("import hob").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    "module", ["hob.core.messages", "hob.core.steps", "hob.core.sentences", "hob.agent.settings", "hob.providers"]
)
def test_the_vocabulary_loads_the_standard_library_alone(module: str) -> None:
    assert loaded(f"import {module}").isdisjoint(HEAVY)


def test_the_client_of_the_commands_is_light() -> None:
    assert loaded("import hob.app.client").isdisjoint({"httpx2", "asyncio", "starlette", "uvicorn", "apsw"})


def test_the_turn_loads_no_http_and_no_database() -> None:
    assert loaded("import hob.agent.driver").isdisjoint({"httpx2", "starlette", "uvicorn", "apsw", "json_repair"})
