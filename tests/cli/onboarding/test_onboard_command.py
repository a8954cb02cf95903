"""`hob onboard` for people and programs, with real processes and a real terminal."""

import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from hob.app.settings.sections import read_config
from hob.cli.onboarding.detection import detect_models
from tests.cli.setup.test_models import serving
from tests.journeys.pty_session import CTRL_C, CTRL_D, ENTER, UP, Terminal, open_terminal

from .playing import Machine

pytestmark = pytest.mark.slow

KEY = "sk-secret-0123456789"
DOWN = "\x1b[B"
HOB = (sys.executable, "-m", "hob")


def run(machine: Machine, *arguments: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **more}
    return subprocess.run(
        [*HOB, *arguments], env=environ, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


def steps(text: str) -> dict[str, dict[str, Any]]:
    return {step["step"]: step for step in json.loads(text)["steps"]}


def test_json_output_contains_no_key(machine: Machine) -> None:
    begin = ("onboard", "--json", "--base-url", machine.server.url, "--model", "small-1", "--key", "-")
    done = run(machine, *begin, "--name", "Anna", stdin=f"{KEY}\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert steps(done.stdout)["model"]["status"] == "done"
    assert KEY not in done.stdout + machine.config
    assert run(machine, "ask", "hi").stdout == "ready\n"
    assert machine.server.requests[-1].headers["authorization"] == f"Bearer {KEY}"


def test_another_assistant_is_reported_with_its_import_command(machine: Machine) -> None:
    folder = Path(os.environ["HOME"]) / ".openclaw"
    folder.mkdir()
    (folder / "openclaw.json").write_text("{}")
    begin = ("onboard", "--base-url", machine.server.url, "--model", "small-1")
    done = run(machine, *begin, "--non-interactive")
    assert "OpenClaw is here, too" in done.stdout
    assert "hob import openclaw" in done.stdout
    (found,) = json.loads(run(machine, *begin, "--json").stdout)["assistants"]
    assert found["assistant"] == "openclaw"


def test_failed_step_is_status_1_with_what_to_do_next(machine: Machine) -> None:
    done = run(machine, "onboard", "--json", "--base-url", machine.server.url, "--model", "locked")
    assert done.returncode == 1
    assert steps(done.stdout)["model"]["next"]
    assert steps(done.stdout)["workspace"]["status"] == "done"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("onboard",), "--non-interactive"),
        (("onboard", "--json", "--provider", "groq", "--key", KEY), "reference"),
        (("onboard", "--json", "--provider", "nobody", "--key", "env:HOME"), "unknown provider"),
        (("onboard", "--json", "--base-url", "no address/", "--model", "x"), "not a server's address"),
        (("onboard", "--json", "--language", "fr"), "fr"),
    ],
)
def test_wrong_use_is_reported_on_standard_error(machine: Machine, arguments: tuple[str, ...], told: str) -> None:
    done = run(machine, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert KEY not in done.stderr
    assert "Traceback" not in done.stderr
    assert machine.config == ""


def test_piped_input_is_kept_and_never_answers_questions(machine: Machine) -> None:
    done = run(machine, stdin="hello\n")
    assert "your message is kept" in done.stderr
    assert "hob onboard" in done.stderr
    assert machine.config == ""


def test_running_hob_uses_the_new_model_and_counts_the_test(machine: Machine) -> None:
    assert run(machine, "onboard", "--json", "--base-url", machine.server.url, "--model", "small-1").returncode == 0
    with serving(dict(os.environ)):
        done = run(machine, "onboard", "--json", "--model", "mute")
        assert "calls no tool" in steps(done.stdout)["model"]["told"]
        begin = ("onboard", "--json", "--base-url", machine.server.url, "--model", "other", "--key", "-")
        done = run(machine, *begin, stdin=f"{KEY}\n")
        assert "the running Hob took it up and asks other" in steps(done.stdout)["model"]["told"]
        assert run(machine, "ask", "who?").returncode == 0
        assert json.loads(machine.server.requests[-1].body)["model"] == "other"
        assert machine.server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
        rows = json.loads(run(machine, "usage", "--by", "task", "--json").stdout)["rows"]
    assert {row["key"]: row["calls"] for row in rows} == {"test": 6, "chat": 1}


def test_local_servers_and_clis_are_found(machine: Machine) -> None:
    tools = machine.root / "bin"
    (tools / "codex").write_text("#!/bin/sh\n")
    (tools / "codex").chmod(0o755)
    machine.patch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    machine.patch.setenv("OLLAMA_HOST", machine.server.root)
    machine.patch.setenv("GROQ_API_KEY", "g")
    places = (("Jan", machine.server.url), ("Nobody", "http://127.0.0.1:1/v1"))
    found = {each.title: each for each in detect_models(read_config(), places)}
    assert found["Ollama"].models[0] == "small-1:latest"
    assert (found["Jan"].draft.base_url, found["Jan"].local) == (machine.server.url, True)
    assert (found["Groq"].variable, found["Codex"].how) == ("GROQ_API_KEY", "installed")
    assert "Nobody" not in found


class Empty(BaseHTTPRequestHandler):
    """A freshly installed Ollama."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"models": []}')

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name in the standard library
        """Log nothing."""


class Refusing(Empty):
    """A server that refuses every key."""

    def do_GET(self) -> None:
        self.send_response(401)
        self.end_headers()
        self.wfile.write(b'{"error": {"message": "Incorrect API key provided"}}')


@pytest.mark.parametrize("model", ["", "some-1"])
def test_server_that_refuses_the_key_is_not_ticked(machine: Machine, model: str) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Refusing) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        named = {"HOB_MODEL_NAME": model} if model else {}
        done = run(machine, "onboard", "--non-interactive", OPENAI_BASE_URL=address, OPENAI_API_KEY=KEY, **named)
        server.shutdown()
        serving.join()
    assert "✗ Your server" in done.stdout
    assert "✓ Your server" not in done.stdout


def test_ollama_without_models_is_told_what_to_fetch(machine: Machine) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        serving = Thread(target=server.serve_forever)
        serving.start()
        machine.patch.setenv("OLLAMA_HOST", f"127.0.0.1:{server.server_port}")
        report = machine.set_up()
        server.shutdown()
        serving.join()
    assert "ollama pull" in report.outcomes[0].told
    assert machine.config == ""


def environ_of(**more: str) -> dict[str, str]:
    return {**os.environ, **more}


async def choose_server(terminal: Terminal, machine: Machine) -> None:
    await terminal.see("Its address")
    terminal.type(machine.server.url, ENTER)
    await terminal.see("Its key")
    terminal.type(KEY, ENTER)
    await terminal.see("Which model?", "small-1")
    terminal.type(ENTER)


async def answer_the_rest(terminal: Terminal) -> None:
    await terminal.see("call you")
    terminal.type("Anna", ENTER)
    for words in ("own messages", "fetch packages", "Which search service", "Dollars that Hob", "in the background"):
        await terminal.see(words)
        terminal.type(ENTER)


@pytest.mark.parametrize("more", [{}, {"NO_COLOR": "1"}], ids=["colours", "no colours"])
async def test_hob_without_arguments_leads_a_newcomer_to_an_answer(machine: Machine, more: dict[str, str]) -> None:
    async with open_terminal(HOB, environ_of(**more)) as terminal:
        await terminal.see("Which model should Hob use", "Not now")
        terminal.type(DOWN, DOWN, UP, ENTER)
        await choose_server(terminal, machine)
        await answer_the_rest(terminal)
        await terminal.see("Hob is ready")
        terminal.type("hello", ENTER)
        await terminal.see("ready\n")
        terminal.type(CTRL_D)
        assert await terminal.ended() == 0
        assert KEY.encode() not in terminal.raw
    assert machine.secrets == {"model.api_key": f"{KEY}\n"}
    assert 'name = "small-1"' in machine.config


async def test_simple_terminal_gets_numbered_choices(machine: Machine) -> None:
    async with open_terminal((*HOB, "onboard"), environ_of(TERM="dumb")) as terminal:
        await terminal.see("Which model should Hob use", "Enter for >")
        terminal.type("9", ENTER)
        await terminal.see("A number from 1 to 4")
        terminal.type("2", ENTER)
        await choose_server(terminal, machine)
        await answer_the_rest(terminal)
        assert await terminal.ended() == 0
        assert b"\x1b[?" not in terminal.raw
    assert 'name = "small-1"' in machine.config


async def test_cancelled_onboarding_leaves_a_working_home(machine: Machine) -> None:
    async with open_terminal(HOB, environ_of()) as terminal:
        await terminal.see("Which model should Hob use", "Not now")
        terminal.type(CTRL_C)
        await terminal.see("run `hob onboard` to continue")
        assert await terminal.ended() == 130
    assert run(machine, "config", "check").returncode == 0
    async with open_terminal((*HOB, "onboard"), environ_of()) as terminal:
        await terminal.see("Which model should Hob use", "Not now")
        terminal.type("4", ENTER)
        await terminal.see("call you")
        terminal.type(CTRL_D)
        assert await terminal.ended() == 130
    assert (machine.root / "hob" / "SOUL.md").exists()


SCRIPT = """
source "$1"
COMP_WORDS=({words}); COMP_CWORD=$(({count}-1)); COMP_LINE="{words}"; COMP_POINT=${{#COMP_LINE}}
_hob hob "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD-1]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def test_bash_completes_commands_options_and_words(tmp_path: Path, machine: Machine) -> None:
    file = tmp_path / "hob.bash"
    file.write_text(run(machine, "completion", "bash").stdout)

    def complete(*words: str) -> set[str]:
        script = SCRIPT.format(words=" ".join(word or "''" for word in words), count=len(words))
        done = subprocess.run(
            ["bash", "--norc", "-c", script, "bash", str(file)], capture_output=True, text=True, timeout=30, check=False
        )
        assert done.stderr == ""
        return set(done.stdout.split())

    assert complete("hob", "mo") == {"models"}
    assert complete("hob", "models", "s") == {"scan", "set"}
    assert complete("hob", "onboard", "--non") == {"--non-interactive"}
    assert complete("hob", "completion", "") >= {"bash", "zsh", "fish"}


async def test_tab_completes_in_a_real_bash(tmp_path: Path, machine: Machine) -> None:
    file = tmp_path / "hob.bash"
    file.write_text(run(machine, "completion", "bash").stdout)
    async with open_terminal(("bash", "--norc", "--noprofile", "-i"), environ_of(PS1="$ ")) as terminal:
        terminal.type(f"source {file}; echo 'rea'dy", ENTER)
        await terminal.see("\nready")
        terminal.type("hob onb\t--non\t")
        await terminal.see("hob onboard --non-interactive")
        terminal.type("\x15hob models s\t\t")
        await terminal.see("scan  set")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_get_their_completion(machine: Machine, shell: str) -> None:
    made = run(machine, "completion", shell).stdout
    assert "onboard" in made
    assert "hob" in made.splitlines()[0]
