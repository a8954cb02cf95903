"""GitHub Copilot CLI as a model: https://docs.github.com/en/copilot/concepts/agents/about-copilot-cli.

It gets no tool, MCP server or instruction files. Hob's system text goes into a custom agent, preceded by about a
thousand characters of the CLI's own text about Copilot.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from hob.core.errors import ModelFault
from hob.core.models import Thinking, Usage
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
from hob.providers.cli.program import DEFAULT_SYSTEM, Cli, CliFacts, CliRequest
from hob.providers.http.fields import Object, get_count, get_object, get_text

FACTS = CliFacts(
    name="copilot-cli",
    title="Copilot CLI",
    package="@github/copilot",
    login="run `copilot` once and use /login, or set COPILOT_GITHUB_TOKEN",
    environment=(
        *("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_HOME", "COPILOT_GH_HOST", "GH_HOST"),
        *("COPILOT_MODEL", "COPILOT_OFFLINE", "COPILOT_PROVIDER_TYPE", "COPILOT_PROVIDER_BASE_URL"),
        *("COPILOT_PROVIDER_API_KEY", "COPILOT_PROVIDER_BEARER_TOKEN", "COPILOT_PROVIDER_WIRE_API"),
        *("COPILOT_PROVIDER_MODEL_ID", "COPILOT_PROVIDER_WIRE_MODEL", "COPILOT_PROVIDER_AZURE_API_VERSION"),
        *("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS"),
    ),
    lost=re.compile(r"No session, task, or name matched|session .{0,60}(?:not found|does not exist)", re.IGNORECASE),
    sets={"NO_COLOR": "1", "COPILOT_AUTO_UPDATE": "false"},
    workplace={},
    running_total=True,
    report="usage.json",
)
_AGENT = ".github/agents/hob.agent.md"
_EFFORTS = {level: str(level) for level in Thinking} | {Thinking.OFF: "none"}


class CopilotCli(Cli):
    """Implements `Cli`."""

    facts = FACTS

    def arguments(self, ask: CliRequest) -> tuple[str, ...]:
        return (
            *("--output-format", "json", "--stream", "on", "--no-color", "--log-level", "none"),
            *("--no-ask-user", "--no-custom-instructions", "--no-auto-update", "--no-remote"),
            *("--available-tools", "none", "--disable-builtin-mcps"),
            *("--add-dir", str(ask.scratch), "--agent", "hob"),
            *("--usage-output-file", str(ask.scratch / FACTS.report)),
            *(("--model", ask.model) if ask.model else ()),
            *(("--reasoning-effort", _EFFORTS[ask.thinking]) if ask.thinking is not None else ()),
            *((f"--{'resume' if ask.resumes else 'session-id'}={ask.session}",) if ask.session else ()),
            *ask.further,
        )

    def files(self, system: str) -> Mapping[str, str]:
        return {_AGENT: f"---\nname: hob\ndescription: Hob\ntools: []\n---\n{system or DEFAULT_SYSTEM}"}

    def decoder(self) -> "CopilotDecoder":
        return CopilotDecoder()

    def read_report(self, report: Mapping[str, Any]) -> Usage | None:
        """Read the file of `--usage-output-file`, summed over all models."""
        total = None
        for row in get_object(report, "modelMetrics").values():
            usage = get_object(row, "usage") if isinstance(row, dict) else {}
            total = (total or Usage()) + Usage(
                get_count(usage, "inputTokens"),
                get_count(usage, "outputTokens"),
                get_count(usage, "cacheReadTokens"),
                get_count(usage, "cacheWriteTokens"),
            )
        return total


class CopilotDecoder:
    """Decoder of the lines of `--output-format json`."""

    def __init__(self) -> None:
        self._streamed: set[str] = set()
        self._message = ""  # the message whose pieces are arriving
        self._said = False
        self._model = ""
        self._failure: tuple[str, int] = ("", 0)
        self._error: CliFailed | None = None

    def feed(self, line: Object) -> Sequence[Event]:
        data = get_object(line, "data")
        match line.get("type"):
            case "assistant.message_delta":
                return self._say(get_text(data, "messageId"), get_text(data, "deltaContent"))
            case "assistant.reasoning_delta":
                return (CliReasoning(text),) if (text := get_text(data, "deltaContent")) else ()
            case "assistant.message":
                return self._read_message(data)
            case "tool.execution_start":
                return (CliRefused(get_text(data, "toolName")),)
            case "model.call_start":
                return (CliOpened("", get_text(data, "model")),)
            case "model.call_failure":
                self._failure = (get_text(data, "errorMessage"), get_count(data, "statusCode"))
            case "assistant.turn_retry":
                said, status = self._failure
                return (
                    CliRetrying(classify_fault(said, status, ModelFault.NETWORK), f"{status or ''} {said}".strip()),
                )
            case "session.error":
                said, status = get_text(data, "message"), get_count(data, "statusCode")
                self._error = CliFailed(classify_fault(said, status), said)
            case "result":
                return self._read_result(line)
        return ()

    def _say(self, message: str, text: str) -> Sequence[Event]:
        if not text:
            return ()
        if message not in self._streamed:
            if self._message:  # it restarts midway and would repeat what was shown
                return (CliFailed(ModelFault.CUT),)
            self._streamed.add(message)
            self._message = message
            if self._said:
                return (CliText("\n\n"), CliText(text))
        self._said = True
        return (CliText(text),)

    def _read_message(self, data: Object) -> Sequence[Event]:
        message = get_text(data, "messageId")
        events = () if message in self._streamed else self._say(message, get_text(data, "content"))
        self._message = ""
        return events

    def _read_result(self, line: Object) -> Sequence[Event]:
        opened = CliOpened(get_text(line, "sessionId"))
        if line.get("exitCode") == 0 and self._error is None:
            return (opened, CliFinished())
        said, status = self._failure
        return (opened, self._error or CliFailed(classify_fault(said, status), said))
