"""`hob models`: real processes against a server of every protocol."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hob.testing.model_server import Fault, ModelServer, Reply

pytestmark = pytest.mark.slow


def answer(asked: Mapping[str, Any]) -> Reply:
    """`mute` calls no tool; `broken` fails when it is shown one."""
    if "tools" not in asked or asked.get("model") == "mute":
        return Reply("ready")
    if asked.get("model") == "broken":
        return Reply(fault=Fault.FILTERED)
    return Reply(calls=(("report", '{"word": "ready"}'),))


class Served:
    """A model server in a thread, so that the test can wait for processes."""

    def __init__(self, answer: Callable[[Mapping[str, Any]], Reply], *models: str) -> None:
        self.server = ModelServer(models=models or ("small-1", "big-1"), otherwise=answer)
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)

    def __enter__(self) -> ModelServer:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.server.__aenter__(), self._loop).result(10)
        return self.server

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.server.__aexit__(None, None, None), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with Served(answer) as server:
        yield server


@pytest.fixture
def environ(server: ModelServer, tmp_path: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HOB_HOME": str(tmp_path / "home"),
        "ANTHROPIC_API_KEY": "a-1",
        "ANTHROPIC_BASE_URL": server.root,
        "GEMINI_API_KEY": "g-1",
        "GOOGLE_GEMINI_BASE_URL": server.root,
        "OLLAMA_HOST": server.root,
    }


def hob(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hob", "models", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)


def test_list_shows_configured_models_and_available_providers(environ: dict[str, str]) -> None:
    environ["HOB_MODEL_ALIASES"] = '{fast = "gemini/quick", lost = "groq/x"}'
    listed = json.loads(hob(environ, "list", "--json").stdout)
    assert listed["usual"] == "anthropic/claude-sonnet-5-5 (ANTHROPIC_API_KEY)"
    roles = {row["role"]: row for row in listed["models"]}
    assert roles["as fast"]["model"] == "gemini/quick"
    assert "GROQ_API_KEY" in roles["as lost"]["trouble"]
    assert {row["id"] for row in listed["providers"]} >= {"anthropic", "gemini", "ollama"}
    assert {row["local"] for row in listed["providers"] if row["id"] == "ollama"} == {True}


def test_scan_asks_every_provider_and_filters(environ: dict[str, str]) -> None:
    names = [row["model"] for row in json.loads(hob(environ, "scan", "--json").stdout)]
    assert {"anthropic/small-1", "gemini/big-1", "ollama/small-1:latest"} <= set(names)
    found = json.loads(hob(environ, "scan", "ollama", "--search", "BIG", "--json").stdout)
    assert [row["model"] for row in found] == ["ollama/big-1:latest"]


def test_scan_reports_a_provider_that_is_down(environ: dict[str, str]) -> None:
    done = hob({**environ, "OLLAMA_HOST": "127.0.0.1:1"}, "scan", "ollama")
    assert done.returncode == 1
    assert "is it running?" in done.stderr


def test_test_reports_which_models_answer(environ: dict[str, str]) -> None:
    done = hob(environ, "test", "anthropic/a", "groq/b", "--json")
    good, bad = json.loads(done.stdout)
    assert done.returncode == 1
    assert (good["ok"], good["tools"], good["model"]) == (True, True, "anthropic/a")
    assert (bad["ok"], "GROQ_API_KEY" in bad["trouble"]) == (False, True)


@pytest.mark.parametrize(
    ("model", "tools", "trouble"),
    [("mute", False, "it answers, but calls no tool"), ("broken", None, "it answers, but its tool call failed: ")],
)
def test_model_whose_tool_call_fails_does_not_pass(
    environ: dict[str, str], model: str, tools: bool | None, trouble: str
) -> None:
    done = hob(environ, "test", f"anthropic/{model}", "--json")
    (row,) = json.loads(done.stdout)
    assert (done.returncode, row["ok"], row["tools"], row["answer"]) == (1, False, tools, "ready")
    assert trouble in row["trouble"]
    assert "✗" in hob(environ, "test", f"anthropic/{model}").stdout
    assert hob(environ, "set", f"anthropic/{model}").returncode == 0  # it answers


def test_model_without_tools_need_not_call_one(environ: dict[str, str]) -> None:
    environ["HOB_MODEL_PROVIDERS"] = '{anthropic = {tools = "none"}}'
    done = hob(environ, "test", "anthropic/mute")
    assert done.returncode == 0
    assert "is shown no tools" in done.stdout


def test_model_is_stored_only_if_it_answers(environ: dict[str, str]) -> None:
    config = Path(environ["HOB_HOME"]) / "config.toml"
    assert hob(environ, "set", "groq/x").returncode == 1
    assert not config.exists()
    assert hob(environ, "set", "gemini/quick").stdout.endswith("Current model: gemini/quick (from your settings)\n")
    assert hob(environ, "set", "ollama/small-1", "--fallback").returncode == 0
    assert hob(environ, "set", "groq/x", "--task", "summary", "--no-test").returncode == 0
    listed = json.loads(hob(environ, "list", "--json").stdout)
    assert [(row["role"], row["name"]) for row in listed["models"]] == [
        ("usual", "gemini/quick"),
        ("stands in", "ollama/small-1"),
        ("for summary", "groq/x"),
    ]


def test_embedding_speech_and_vision_models_are_probed_too(environ: dict[str, str], server: ModelServer) -> None:
    environ["HOB_MODEL_PROVIDERS"] = f'{{openai = {{base_url = "{server.url}", api_key = "k"}}}}'
    rows = {row["kind"]: row for row in json.loads(hob(environ, "test", "--media", "--json").stdout)}
    assert {kind: row["ok"] for kind, row in rows.items()} == dict.fromkeys(
        ("embedding", "speech", "transcription", "vision"), True
    )
    without = hob(environ | {"HOB_MODEL_PROVIDERS": "{}"}, "test", "--media")
    assert without.returncode == 1
    assert "set model.speech" in without.stdout


def test_empty_model_name_is_refused(environ: dict[str, str]) -> None:
    done = hob(environ, "set", "")
    assert done.returncode == 2
    assert "the name is empty" in done.stderr


def test_variable_that_outranks_the_file_is_named(environ: dict[str, str]) -> None:
    done = hob({**environ, "HOB_MODEL_NAME": "anthropic/a"}, "set", "gemini/quick")
    assert "HOB_MODEL_NAME outranks it" in done.stderr


def test_cost_of_a_probe_is_counted_by_any_owner_of_the_home(environ: dict[str, str], server: ModelServer) -> None:
    assert hob(environ, "test", "anthropic/claude-sonnet-4-5").returncode == 0
    alone = usage(environ)
    assert f"${alone['test']['cost_usd']:.6f}".rstrip("0") in hob_usage(environ).stdout
    assert (alone["test"]["calls"], alone["test"]["unknown_calls"]) == (2, 0)
    with serving(environ):
        assert hob(environ, "test", "anthropic/claude-sonnet-4-5").returncode == 0
        together = usage(environ)
    assert together["test"]["calls"] == 4
    assert together["test"]["cost_usd"] == pytest.approx(2 * alone["test"]["cost_usd"]) != 0


def test_test_keeps_the_limits(environ: dict[str, str], server: ModelServer) -> None:
    environ["HOB_SPENDING_DAILY"] = "0.0001"
    (row,) = json.loads(hob(environ, "test", "anthropic/claude-sonnet-4-5", "--json").stdout)
    assert "`spending.daily` is $0.0001" in row["trouble"]
    assert "Nothing was changed" in hob(environ, "set", "anthropic/claude-sonnet-4-5").stderr
    assert not server.requests


def usage(environ: dict[str, str]) -> dict[str, Any]:
    return {row["key"]: row for row in json.loads(hob_usage(environ, "--by", "task", "--json").stdout)["rows"]}


def hob_usage(environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hob", "usage", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True)


@contextmanager
def serving(environ: dict[str, str]) -> Iterator[None]:
    """A daemon that owns the home."""
    command = [sys.executable, "-m", "hob", "serve"]
    with subprocess.Popen(
        command, env=environ | {"HOB_GATEWAY_PORT": "0"}, stdout=subprocess.PIPE, text=True
    ) as daemon:
        try:
            assert daemon.stdout is not None
            assert "ready" in daemon.stdout.readline()  # it prints its address once it listens
            yield
        finally:
            daemon.terminate()
            daemon.wait(20)
