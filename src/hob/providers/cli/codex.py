"""Codex as a model: https://developers.openai.com/codex/noninteractive.

It is given no tool (its newest models are told of some whatever is set; they run in its read-only sandbox) and reads
neither the owner's configuration (which may start MCP servers) nor project files; its login, the provider that the
owner's `config.toml` chooses and, where there is one, `AGENTS.md` of its home remain. It says each message as a whole:
nothing is streamed.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from hob.core.errors import ModelFault
from hob.core.models import Thinking, Usage
from hob.core.values import dataclass
from hob.providers.cli.events import (
    CliFailed,
    CliFinished,
    CliOpened,
    CliRefused,
    CliRetrying,
    CliSaid,
    CliThought,
    Event,
    fault_of,
)
from hob.providers.cli.program import Cli, CliFacts, CliRequest
from hob.providers.http.fields import Object, count_in, object_in, text_in

FACTS = CliFacts(
    name="codex-cli",
    title="Codex",
    package="@openai/codex",
    login="run `codex login`, or set CODEX_API_KEY",
    environment=("CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "CODEX_HOME", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    lost=re.compile(r"no rollout found|thread/resume failed", re.IGNORECASE),
    sets={},
    workplace={},
    running_total=True,
)
_OFF = (
    *("apps", "browser_use", "computer_use", "goals", "hooks", "image_generation", "in_app_browser", "multi_agent"),
    *("plugins", "remote_plugin", "shell_snapshot", "shell_tool", "skill_search", "sleep_tool", "tool_suggest"),
    *("unified_exec", "view_image", "workspace_dependencies"),
)
# a setting that a version does not know is ignored by it, a flag is not
_SETTINGS = (
    *(f"features.{name}=false" for name in _OFF),
    'approval_policy="never"',
    'sandbox_mode="read-only"',
    'web_search="disabled"',
    "project_doc_max_bytes=0",
    "include_permissions_instructions=false",
    "include_apps_instructions=false",
    "include_environment_context=false",
    "include_collaboration_mode_instructions=false",
    "skills.bundled.enabled=false",
    "skills.include_instructions=false",
    "tools.experimental_request_user_input.enabled=false",
    'history.persistence="none"',
)
_EFFORTS = {
    Thinking.OFF: "low",  # not every model can do without
    Thinking.MINIMAL: "low",
    Thinking.LOW: "low",
    Thinking.MEDIUM: "medium",
    Thinking.HIGH: "high",
    Thinking.XHIGH: "xhigh",
}
_RECONNECTING = re.compile(r"Reconnecting\.\.\.[^(]*(?:\((.*)\))?", re.DOTALL)
_TOOLS = {"command_execution", "file_change", "mcp_tool_call", "web_search"}


class CodexCli(Cli):
    """Implements `Cli`."""

    facts = FACTS

    def arguments(self, ask: CliRequest) -> tuple[str, ...]:
        own = _own_provider(ask.environ)
        model = ask.model or own.model
        settings = [*_SETTINGS, *own.settings, f"model_instructions_file={json.dumps(str(ask.scratch / 'system.md'))}"]
        if ask.thinking is not None:
            settings.append(f'model_reasoning_effort="{_EFFORTS[ask.thinking]}"')
        return (
            *("exec", "--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules"),
            *(part for value in settings for part in ("-c", value)),
            *(("-m", model) if model else ()),
            *(() if ask.session or ask.resumes else ("--ephemeral",)),
            *ask.further,
            *(("resume", ask.session) if ask.resumes else ()),
            "-",
        )

    def variables(self, ask: CliRequest) -> Mapping[str, str]:
        return _own_provider(ask.environ).variables

    def decoder(self) -> "CodexDecoder":
        return CodexDecoder()


@dataclass(frozen=True, slots=True)
class _Own:
    """The provider that the owner's `config.toml` chooses: settings that name it, what it reads, and its model."""

    settings: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    model: str = ""


def _own_provider(environ: Mapping[str, str]) -> _Own:
    """Secrets become variables: others may read arguments.

    Format: https://developers.openai.com/codex/config-advanced
    """
    home = Path(environ.get("CODEX_HOME") or Path(environ.get("HOME", ".")) / ".codex")
    try:
        config = tomllib.loads((home / "config.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return _Own()
    config |= object_in(object_in(config, "profiles"), text_in(config, "profile"))
    id = text_in(config, "model_provider")
    if not id:
        return _Own()
    provider = dict(object_in(object_in(config, "model_providers"), id))
    names = [text_in(provider, "env_key"), *map(str, object_in(provider, "env_http_headers").values())]
    variables = {name: environ[name] for name in names if name in environ}
    if token := text_in(provider, "experimental_bearer_token"):
        del provider["experimental_bearer_token"]
        provider["env_key"], variables["HOB_CODEX_TOKEN"] = "HOB_CODEX_TOKEN", token
    headers = object_in(provider, "http_headers")
    provider |= {"http_headers": {}, "env_http_headers": dict(object_in(provider, "env_http_headers"))}
    for place, (name, value) in enumerate(headers.items()):
        provider["env_http_headers"][name] = f"HOB_CODEX_HEADER_{place}"
        variables[f"HOB_CODEX_HEADER_{place}"] = str(value)
    chosen = {"model_provider": id, "model_providers": {id: provider}}
    return _Own(tuple(_assignments(chosen)), variables, text_in(config, "model"))


def _assignments(values: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _assignments(value, f"{path}{name}.")
        elif isinstance(value, str | bool | int | list):
            yield f"{path}{name}={json.dumps(value, ensure_ascii=False)}"


class CodexDecoder:
    """Reads the lines of `codex exec --json`."""

    def __init__(self) -> None:
        self._said = False
        self._error = ""

    def feed(self, line: Object) -> Sequence[Event]:
        match line.get("type"):
            case "thread.started":
                return (CliOpened(text_in(line, "thread_id")),)
            case "item.completed":
                return self._read_item(object_in(line, "item"))
            case "error":
                return self._read_error(text_in(line, "message"))
            case "turn.failed":
                said = text_in(object_in(line, "error"), "message") or self._error
                return (CliFailed(fault_of(said), said),)
            case "turn.completed":
                return (CliFinished(_usage(object_in(line, "usage"))),)
        return ()

    def _read_item(self, item: Object) -> Sequence[Event]:
        kind, text = text_in(item, "type"), text_in(item, "text")
        if kind == "agent_message" and text:
            again, self._said = self._said, True
            return (CliSaid("\n\n"), CliSaid(text)) if again else (CliSaid(text),)
        if kind == "reasoning" and text:
            return (CliThought(text),)
        return (CliRefused(kind),) if kind in _TOOLS else ()  # an item of type error is but a notice

    def _read_error(self, said: str) -> Sequence[Event]:
        retrying = _RECONNECTING.match(said)
        if retrying is None:
            self._error = said
            return ()
        why = retrying[1] or ""
        return (CliRetrying(fault_of(why, otherwise=ModelFault.NETWORK), why),)


def _usage(usage: Object) -> Usage:
    return Usage(
        count_in(usage, "input_tokens"),
        count_in(usage, "output_tokens"),
        count_in(usage, "cached_input_tokens"),
        count_in(usage, "cache_write_input_tokens"),
        count_in(usage, "reasoning_output_tokens"),
    )
