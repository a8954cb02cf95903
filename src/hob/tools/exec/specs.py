"""Tool specs for running commands, and the maximum run time."""

from hob.core.argument_roles import ArgumentRole
from hob.core.tools import Effect, ToolSpec

EXECUTING = frozenset(
    {Effect.READS_PRIVATE, Effect.READS_UNTRUSTED, Effect.WRITES, Effect.COMMUNICATES, Effect.EXECUTES}
)

LONGEST_SECONDS = 1800
"""The longest timeout that a command may request; `sandbox.cpu_seconds` and `agent.run_seconds` limit it too."""

EXEC = ToolSpec(
    name="exec",
    description="Run a bash command in a sandbox: the workspace and the system's programs.",
    schema={
        "type": "object",
        "properties": {
            "command": {"type": "string"},
            "cwd": {"type": "string"},
            "stdin": {"type": "string"},
            "timeout": {"type": "integer", "description": "Seconds", "minimum": 1, "maximum": LONGEST_SECONDS},
            "background": {"type": "boolean", "description": "See process"},
            "pty": {"type": "boolean"},
            "network": {"type": "boolean", "description": "Reach the hosts the owner allows"},
            "hosts": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["command"],
    },
    effects=EXECUTING,
    timeout=LONGEST_SECONDS + 30,
    roles=ArgumentRole(
        commands=("command",),
        inputs=("stdin",),
        directory=("cwd",),
        hosts=("hosts", "network"),
        plain=("timeout", "background", "pty"),
        runs=True,
    ),
)
PROCESS = ToolSpec(
    name="process",
    description="Background commands: list, poll, write, kill.",
    schema={
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["list", "poll", "write", "kill"]},
            "id": {"type": "string"},
            "data": {"type": "string", "description": "Whole lines"},
            "eof": {"type": "boolean"},
            "timeout": {"type": "integer", "description": "Seconds"},
        },
        "required": ["action"],
    },
    effects=EXECUTING,
    roles=ArgumentRole(commands=("data",), plain=("action", "id", "eof", "timeout"), runs=True, joins=True),
)
