"""Claude Code as a model: https://docs.claude.com/en/docs/claude-code/headless.

It is given no tool, no MCP server, no settings and no memory files, so that it sends little more than what it is told:
`--tools ""` alone would still read every file that a prompt names by `@path`.
"""

import math
import re
from collections.abc import Mapping, Sequence

from hob.core.errors import ModelFault
from hob.core.models import Stop, Thinking, Usage
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
from hob.providers.http.fields import Object, count_in, number_in, object_in, objects_in, text_in

FACTS = CliFacts(
    name="claude-cli",
    title="Claude Code",
    package="@anthropic-ai/claude-code",
    login="run `claude` once and log in, or set ANTHROPIC_API_KEY",
    environment=(
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CONFIG_DIR",
    ),
    lost=re.compile(r"No conversation found|already in use", re.IGNORECASE),
    sets={
        "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",  # `@path` in a prompt stays text
        "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
        "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
        "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",  # a title costs a request of its own
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",  # it would say again what was shown already
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_COMPACT": "1",  # Hob does that, and knows it
    },
    workplace={},
)
_EFFORTS = {
    Thinking.MINIMAL: "low",
    Thinking.LOW: "low",
    Thinking.MEDIUM: "medium",
    Thinking.HIGH: "high",
    Thinking.XHIGH: "xhigh",
}
_FAULTS = {
    "authentication_failed": ModelFault.AUTH,
    "oauth_org_not_allowed": ModelFault.AUTH,
    "billing_error": ModelFault.BILLING,
    "rate_limit": ModelFault.RATE_LIMIT,
    "overloaded": ModelFault.OVERLOAD,
    "model_not_found": ModelFault.NOT_FOUND,
}


class ClaudeCli(Cli):
    """Implements `Cli`."""

    facts = FACTS

    def arguments(self, ask: CliRequest) -> tuple[str, ...]:
        session = ("--resume" if ask.resumes else "--session-id", ask.session)
        return (
            "-p",
            *("--output-format", "stream-json", "--verbose", "--include-partial-messages"),
            *("--tools", "", "--strict-mcp-config", "--setting-sources", "", "--disable-slash-commands"),
            *("--system-prompt-file", str(ask.scratch / "system.md")),
            *(("--model", ask.model) if ask.model else ()),
            *(("--effort", _EFFORTS[ask.thinking]) if ask.thinking in _EFFORTS else ()),
            *(session if ask.session else ("--no-session-persistence",)),
            *ask.further,
        )

    def variables(self, ask: CliRequest) -> Mapping[str, str]:
        if ask.thinking is not Thinking.OFF:  # thinking counts as output: a limit would leave no room to answer
            return {}
        return {"MAX_THINKING_TOKENS": "0", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(ask.max_tokens)}

    def decoder(self) -> "ClaudeDecoder":
        return ClaudeDecoder()


class ClaudeDecoder:
    """Reads stream-json lines. `is_error` counts, whatever the `subtype` says."""

    def __init__(self) -> None:
        self._streamed: set[str] = set()
        self._began_with: Object = {}
        self._open = False
        self._said = False
        self._said_in_message = False
        self._error = ""
        self._refused_answer = False
        self._resets_at: float | None = None

    def feed(self, line: Object) -> Sequence[Event]:
        kind = line.get("type")
        if kind == "stream_event":
            return self._read_stream(object_in(line, "event")) if not line.get("parent_tool_use_id") else ()
        if kind == "assistant":
            return self._read_message(line)
        if kind == "result":
            return self._read_result(line)
        if kind == "system":
            return self._read_system(line)
        if kind == "rate_limit_event":
            info = object_in(line, "rate_limit_info")
            if info.get("status") == "rejected":
                self._resets_at = number_in(info, "resetsAt")
        return ()

    def _read_system(self, line: Object) -> Sequence[Event]:
        match line.get("subtype"):
            case "init":
                return (CliOpened(text_in(line, "session_id"), text_in(line, "model")),)
            case "api_retry":
                status, word = count_in(line, "error_status"), text_in(line, "error")
                fault = _FAULTS.get(word) or fault_of(word, status, ModelFault.NETWORK)
                said = f"{status} {word}" if status else "no connection"
                delay = number_in(line, "retry_delay_ms")
                return (CliRetrying(fault, said, None if delay is None else delay / 1000),)
            case "model_refusal_no_fallback":
                self._refused_answer = True
        return ()

    def _read_stream(self, event: Object) -> Sequence[Event]:
        match event.get("type"):
            case "content_block_delta":
                return self._read_delta(object_in(event, "delta"))
            case "message_start":
                if self._open and self._said_in_message:  # it asks again; what was shown would be said twice
                    return (CliFailed(ModelFault.CUT),)
                self._open, self._said_in_message = True, False
                message = object_in(event, "message")
                self._streamed.add(text_in(message, "id"))
                self._began_with = object_in(message, "usage")
            case "message_stop":
                self._open = False
            case "message_delta":
                # left alone, it would ask three times more for the rest
                if object_in(event, "delta").get("stop_reason") == "max_tokens":
                    usage = _usage({**self._began_with, **object_in(event, "usage")})
                    return (CliFinished(usage, stop=Stop.LENGTH),)
        return ()

    def _read_delta(self, delta: Object) -> Sequence[Event]:
        match delta.get("type"):
            case "text_delta":
                return self._say(text_in(delta, "text"))
            case "thinking_delta":
                return (CliThought(thought),) if (thought := text_in(delta, "thinking")) else ()
        return ()

    def _say(self, text: str) -> Sequence[Event]:
        if not text:
            return ()
        first = self._said and not self._said_in_message
        self._said = self._said_in_message = True
        return (CliSaid("\n\n"), CliSaid(text)) if first else (CliSaid(text),)

    def _read_message(self, line: Object) -> Sequence[Event]:
        message = object_in(line, "message")
        self._error = text_in(line, "error") or self._error
        if line.get("parent_tool_use_id") or message.get("model") == "<synthetic>":  # its own words on an error
            return ()
        content = objects_in(message, "content")
        tools = [CliRefused(text_in(block, "name")) for block in content if block.get("type") == "tool_use"]
        if text_in(message, "id") in self._streamed:
            return tools
        if self._open and self._said_in_message:
            return (CliFailed(ModelFault.CUT),)
        self._said_in_message = False
        events: list[Event] = []
        for block in content:
            if block.get("type") == "thinking":
                events.append(CliThought(text_in(block, "thinking")))
            elif block.get("type") == "text":
                events += self._say(text_in(block, "text"))
        return (*events, *tools)

    def _read_result(self, line: Object) -> Sequence[Event]:
        result = text_in(line, "result")
        if line.get("is_error") or text_in(line, "subtype").startswith("error"):
            errors = line.get("errors")
            said = result or "; ".join(map(str, errors)) if isinstance(errors, list) else result
            return (CliFailed(self._fault(line, said), said or text_in(line, "subtype"), self._resets_at, _cost(line)),)
        denied = [CliRefused(text_in(denial, "tool_name")) for denial in objects_in(line, "permission_denials")]
        last = () if self._said else self._say(result)
        return (*last, *denied, CliFinished(_usage(object_in(line, "usage")), _cost(line)))

    def _fault(self, line: Object, said: str) -> ModelFault:
        if line.get("stop_reason") == "refusal" or self._refused_answer:
            return ModelFault.FILTERED
        status = count_in(line, "api_error_status")
        if not status and self._error in _FAULTS:
            return _FAULTS[self._error]
        if self._resets_at is not None:
            return ModelFault.RATE_LIMIT
        return fault_of(said, status, ModelFault.GARBAGE)


def _cost(line: Object) -> int | None:
    dollars = number_in(line, "total_cost_usd")
    return None if dollars is None else math.ceil(round(dollars * 1_000_000, 3))


def _usage(usage: Object) -> Usage:
    read, written = count_in(usage, "cache_read_input_tokens"), count_in(usage, "cache_creation_input_tokens")
    return Usage(count_in(usage, "input_tokens") + read + written, count_in(usage, "output_tokens"), read, written)
