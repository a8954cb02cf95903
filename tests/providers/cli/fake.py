"""A stand-in for a CLI: an executable that says what it is told to say, and remembers how it was run."""

import json
import sys
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from hob.core.clock import Clock
from hob.core.models import KeepAlive, ModelEvent, ModelReply, ModelRequest
from hob.core.ports.model import Model
from hob.providers.catalog.catalog import CLI_COMMANDS
from hob.providers.cli.backend import CliModel
from hob.providers.cli.program import CliSettings
from hob.testing.clock import ManualClock

_PROGRAM = """#!{python} -IS
import json, os, signal, sys
home = {home!r}
number = 0
while True:
    try:
        os.rename(f"{{home}}/plan-{{number}}", f"{{home}}/done-{{number}}")
        break
    except FileNotFoundError:
        number += 1
        if number > 99:
            sys.exit("nothing is planned")
plan = json.load(open(f"{{home}}/done-{{number}}"))
run = dict(arguments=sys.argv[1:], stdin=sys.stdin.buffer.read().decode(), environ=dict(os.environ), cwd=os.getcwd())
run["pids"], run["files"] = [os.getpid()], {{}}
for folder, _, names in os.walk(os.environ["TMPDIR"]):
    for name in names:
        path = os.path.join(folder, name)
        run["files"][os.path.relpath(path, os.environ["TMPDIR"])] = open(path).read()
if plan.get("deaf"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if plan.get("child"):
    import subprocess  # which most runs need not load
    run["pids"].append(subprocess.Popen([sys.executable, "-ISc", "import time; time.sleep(600)"]).pid)
with open(f"{{home}}/part-{{number}}", "w") as file:
    json.dump(run, file)
os.rename(f"{{home}}/part-{{number}}", f"{{home}}/run-{{number}}")
sys.stderr.write(plan.get("stderr", ""))
if "report" in plan:
    json.dump(plan["report"], open(os.environ["TMPDIR"] + "/usage.json", "w"))
for line in plan["lines"]:
    print(line if isinstance(line, str) else json.dumps(line), flush=True)
if plan["exit"] is None:
    while True:
        signal.pause()
sys.exit(plan["exit"])
"""

Run = Mapping[str, Any]
"""What one run says: `lines`, `exit` (None: it goes on for ever), `stderr`, `report`; `deaf` does not hear SIGTERM,
`child` starts a child."""

RECORDED = Path(__file__).parent / "recorded"
CLIS = tuple(CLI_COMMANDS)


def recorded(name: str) -> Mapping[str, Run]:
    """What the real CLI said, by case. In the recordings what does not matter is left out."""
    rows: Mapping[str, Run] = json.loads((RECORDED / f"{name}.json").read_text())
    return rows


@dataclass(frozen=True, slots=True)
class Seen:
    """How the CLI was run."""

    arguments: list[str]
    stdin: str
    environ: dict[str, str]
    cwd: str
    pids: list[int]
    files: dict[str, str]

    def after(self, option: str) -> str:
        """The value of an option."""
        return self.arguments[self.arguments.index(option) + 1]


class FakeCli:
    """The program of a CLI in a folder that can stand in PATH. It says one planned run after another."""

    def __init__(self, folder: Path, name: str, *runs: Run) -> None:
        self.name = name
        self.folder = folder
        self._planned = 0
        self._bin = folder / "bin"
        self._bin.mkdir(parents=True)
        program = self._bin / CLI_COMMANDS[name]
        program.write_text(_PROGRAM.format(python=sys.executable, home=str(folder)))
        program.chmod(0o755)
        self.plan(*runs)

    def plan(self, *runs: Run) -> None:
        """Further runs."""
        for run in runs:
            path = self.folder / f"next-{self._planned}"
            path.write_text(json.dumps({"exit": 0, "lines": [], **run}))
            path.rename(self.folder / f"plan-{self._planned}")
            self._planned += 1

    def seen(self) -> list[Seen]:
        """Its runs so far."""
        paths = (self.folder / f"run-{number}" for number in range(self._planned))
        return [Seen(**json.loads(path.read_text())) for path in paths if path.exists()]

    def model(
        self,
        settings: CliSettings | None = None,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> CliModel:
        """The model that runs it."""
        variables = {"PATH": str(self._bin), "HOME": str(self.folder), "SECRET": "not for it", **(environ or {})}
        return CliModel(
            self.name, settings or CliSettings(), clock or ManualClock(), environ=variables, folder=self.folder / "home"
        )


async def hear(model: Model, request: ModelRequest) -> list[ModelEvent]:
    """All that it says, without beats."""
    async with aclosing(cast("AsyncGenerator[ModelEvent]", model.stream(request))) as events:
        return [event async for event in events if not isinstance(event, KeepAlive)]


async def ask(model: Model, request: ModelRequest) -> ModelReply:
    """Its reply."""
    reply = (await hear(model, request))[-1]
    assert isinstance(reply, ModelReply)
    return reply


def answer(name: str, text: str, reasoning: str = "", pieces: Iterable[str] = ()) -> Run:
    """A run that gives this answer, in the CLI's own lines."""
    said = list(pieces) or [text]
    match name:
        case "claude-cli":
            deltas = [{"type": "thinking_delta", "thinking": reasoning}] if reasoning else []
            deltas += [{"type": "text_delta", "text": piece} for piece in said]
            lines: list[Mapping[str, Any]] = [
                _stream({"type": "message_start", "message": {"id": "m1", "usage": {"input_tokens": 3}}}),
                *(_stream({"type": "content_block_delta", "delta": delta}) for delta in deltas),
                {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": text}]}},
                _stream({"type": "message_stop"}),
                {"type": "result", "subtype": "success", "is_error": False, "result": text, "total_cost_usd": 0.01},
            ]
            return {"lines": [{"type": "system", "subtype": "init", "session_id": "s", "model": "claude"}, *lines]}
        case "codex-cli":
            thought = [_item("reasoning", reasoning)] if reasoning else []
            usage = {"input_tokens": 20, "cached_input_tokens": 8, "output_tokens": 6}
            whole = [_item("agent_message", text), {"type": "turn.completed", "usage": usage}]
            return {"lines": [{"type": "thread.started", "thread_id": "thread-1"}, *thought, *whole]}
        case "gemini-cli":
            messages = [{"type": "message", "role": "assistant", "content": piece, "delta": True} for piece in said]
            stats = {"input_tokens": 11, "output_tokens": 3, "total_tokens": 16, "cached": 4}
            return {"lines": [*messages, {"type": "result", "status": "success", "stats": stats}]}
        case _:
            deltas = [_event("assistant.reasoning_delta", deltaContent=reasoning)] if reasoning else []
            deltas += [_event("assistant.message_delta", messageId="m1", deltaContent=piece) for piece in said]
            last = [_event("assistant.message", messageId="m1", content=text), {"type": "result", "exitCode": 0}]
            return {"lines": [*deltas, *last]}


def half(name: str, text: str) -> Run:
    """A run that ends in the middle of its answer."""
    return {"lines": answer(name, text)["lines"][: -3 if name == "claude-cli" else -1], "exit": 1}


def overflow(name: str) -> Run:
    """A run that ends since the conversation is too long."""
    said = "prompt is too long: 250000 tokens > 200000 maximum"
    match name:
        case "claude-cli":
            return {"lines": [{"type": "result", "is_error": True, "api_error_status": 400, "result": said}], "exit": 1}
        case "codex-cli":
            return recorded(name)["overflow"]
        case "gemini-cli":
            told = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."
            message = f"[API Error: {json.dumps({'error': {'code': 400, 'message': told}})}]"
            return {"lines": [{"type": "result", "status": "error", "error": {"message": message}}], "exit": 144}
        case _:
            error = {"type": "session.error", "data": {"message": said, "statusCode": 400}}
            return {"lines": [error, {"type": "result", "exitCode": 1}], "exit": 1}


def _stream(event: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "stream_event", "event": event, "parent_tool_use_id": None}


def _item(kind: str, text: str) -> Mapping[str, Any]:
    return {"type": "item.completed", "item": {"type": kind, "text": text}}


def _event(kind: str, **data: str) -> dict[str, Any]:
    return {"type": kind, "data": data}
