"""Codex as a model: https://developers.openai.com/codex/noninteractive.

It gets no tool (its newest models are always offered some; they run in its read-only sandbox) and reads neither the
owner's configuration (which may start MCP servers) nor project files. Its login, the provider chosen in the owner's
`config.toml` and the `AGENTS.md` of its home, if any, still apply. It reports whole messages: nothing is streamed.
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
    CliReasoning,
    CliRefused,
    CliRetrying,
    CliText,
    Event,
    classify_fault,
)
from hob.providers.cli.program import Cli, CliFacts, CliRequest
from hob.providers.http.fields import Object, get_count, get_object, get_text

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
# unlike an unknown flag, an unknown setting is ignored by older versions
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
    Thinking.OFF: "low",  # not every model accepts `none`
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
        own = _read_own_provider(ask.environ)
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
        return _read_own_provider(ask.environ).variables

    def decoder(self) -> "CodexDecoder":
        return CodexDecoder()


@dataclass(frozen=True, slots=True)
class _OwnProvider:
    """The provider chosen in the owner's `config.toml`: its settings, the variables it reads, and its model."""

    settings: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    model: str = ""


def _read_own_provider(environ: Mapping[str, str]) -> _OwnProvider:
    """Read the owner's provider. Secrets become variables, since other users may read arguments.

    Format: https://developers.openai.com/codex/config-advanced
    """
    home = Path(environ.get("CODEX_HOME") or Path(environ.get("HOME", ".")) / ".codex")
    try:
        config = tomllib.loads((home / "config.toml").read_text("utf-8"))
    except (OSError, ValueError):
        return _OwnProvider()
    config |= get_object(get_object(config, "profiles"), get_text(config, "profile"))
    id = get_text(config, "model_provider")
    if not id:
        return _OwnProvider()
    provider = dict(get_object(get_object(config, "model_providers"), id))
    names = [get_text(provider, "env_key"), *map(str, get_object(provider, "env_http_headers").values())]
    variables = {name: environ[name] for name in names if name in environ}
    if token := get_text(provider, "experimental_bearer_token"):
        del provider["experimental_bearer_token"]
        provider["env_key"], variables["HOB_CODEX_TOKEN"] = "HOB_CODEX_TOKEN", token
    headers = get_object(provider, "http_headers")
    provider |= {"http_headers": {}, "env_http_headers": dict(get_object(provider, "env_http_headers"))}
    for place, (name, value) in enumerate(headers.items()):
        provider["env_http_headers"][name] = f"HOB_CODEX_HEADER_{place}"
        variables[f"HOB_CODEX_HEADER_{place}"] = str(value)
    chosen = {"model_provider": id, "model_providers": {id: provider}}
    return _OwnProvider(tuple(_assignments(chosen)), variables, get_text(config, "model"))


def _assignments(values: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _assignments(value, f"{path}{name}.")
        elif isinstance(value, str | bool | int | list):
            yield f"{path}{name}={json.dumps(value, ensure_ascii=False)}"


class CodexDecoder:
    """Decoder of the lines of `codex exec --json`."""

    def __init__(self) -> None:
        self._said = False
        self._error = ""

    def feed(self, line: Object) -> Sequence[Event]:
        match line.get("type"):
            case "thread.started":
                return (CliOpened(get_text(line, "thread_id")),)
            case "item.completed":
                return self._read_item(get_object(line, "item"))
            case "error":
                return self._read_error(get_text(line, "message"))
            case "turn.failed":
                said = get_text(get_object(line, "error"), "message") or self._error
                return (CliFailed(classify_fault(said), said),)
            case "turn.completed":
                return (CliFinished(_usage(get_object(line, "usage"))),)
        return ()

    def _read_item(self, item: Object) -> Sequence[Event]:
        kind, text = get_text(item, "type"), get_text(item, "text")
        if kind == "agent_message" and text:
            again, self._said = self._said, True
            return (CliText("\n\n"), CliText(text)) if again else (CliText(text),)
        if kind == "reasoning" and text:
            return (CliReasoning(text),)
        return (CliRefused(kind),) if kind in _TOOLS else ()  # an item of type error is only a notice

    def _read_error(self, said: str) -> Sequence[Event]:
        retrying = _RECONNECTING.match(said)
        if retrying is None:
            self._error = said
            return ()
        why = retrying[1] or ""
        return (CliRetrying(classify_fault(why, otherwise=ModelFault.NETWORK), why),)


def _usage(usage: Object) -> Usage:
    return Usage(
        get_count(usage, "input_tokens"),
        get_count(usage, "output_tokens"),
        get_count(usage, "cached_input_tokens"),
        get_count(usage, "cache_write_input_tokens"),
        get_count(usage, "reasoning_output_tokens"),
    )
