"""Claude Code as a model: https://docs.claude.com/en/docs/claude-code/headless.

It gets no tool, MCP server, settings or memory files, so it sends little more than the prompt: `--tools ""` alone would
still read every file that a prompt names as `@path`.
"""

import math
import re
from collections.abc import Mapping, Sequence

from hob.core.errors import ModelFault
from hob.core.models import StopReason, Thinking, Usage
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
from hob.providers.http.fields import Object, get_count, get_number, get_object, get_objects, get_text

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
        "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",  # a title costs an extra request
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",  # it would repeat what was already shown
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_COMPACT": "1",  # Hob compacts, and knows about it
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
    """Decoder of stream-json lines. `is_error` counts, whatever `subtype` says."""

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
            return self._read_stream(get_object(line, "event")) if not line.get("parent_tool_use_id") else ()
        if kind == "assistant":
            return self._read_message(line)
        if kind == "result":
            return self._read_result(line)
        if kind == "system":
            return self._read_system(line)
        if kind == "rate_limit_event":
            info = get_object(line, "rate_limit_info")
            if info.get("status") == "rejected":
                self._resets_at = get_number(info, "resetsAt")
        return ()

    def _read_system(self, line: Object) -> Sequence[Event]:
        match line.get("subtype"):
            case "init":
                return (CliOpened(get_text(line, "session_id"), get_text(line, "model")),)
            case "api_retry":
                status, word = get_count(line, "error_status"), get_text(line, "error")
                fault = _FAULTS.get(word) or classify_fault(word, status, ModelFault.NETWORK)
                said = f"{status} {word}" if status else "no connection"
                delay = get_number(line, "retry_delay_ms")
                return (CliRetrying(fault, said, None if delay is None else delay / 1000),)
            case "model_refusal_no_fallback":
                self._refused_answer = True
        return ()

    def _read_stream(self, event: Object) -> Sequence[Event]:
        match event.get("type"):
            case "content_block_delta":
                return self._read_delta(get_object(event, "delta"))
            case "message_start":
                if self._open and self._said_in_message:  # it retries and would repeat what was shown
                    return (CliFailed(ModelFault.CUT),)
                self._open, self._said_in_message = True, False
                message = get_object(event, "message")
                self._streamed.add(get_text(message, "id"))
                self._began_with = get_object(message, "usage")
            case "message_stop":
                self._open = False
            case "message_delta":
                # otherwise it would request the rest three more times
                if get_object(event, "delta").get("stop_reason") == "max_tokens":
                    usage = _usage({**self._began_with, **get_object(event, "usage")})
                    return (CliFinished(usage, stop=StopReason.LENGTH),)
        return ()

    def _read_delta(self, delta: Object) -> Sequence[Event]:
        match delta.get("type"):
            case "text_delta":
                return self._say(get_text(delta, "text"))
            case "thinking_delta":
                return (CliReasoning(thought),) if (thought := get_text(delta, "thinking")) else ()
        return ()

    def _say(self, text: str) -> Sequence[Event]:
        if not text:
            return ()
        first = self._said and not self._said_in_message
        self._said = self._said_in_message = True
        return (CliText("\n\n"), CliText(text)) if first else (CliText(text),)

    def _read_message(self, line: Object) -> Sequence[Event]:
        message = get_object(line, "message")
        self._error = get_text(line, "error") or self._error
        if line.get("parent_tool_use_id") or message.get("model") == "<synthetic>":  # its own text about an error
            return ()
        content = get_objects(message, "content")
        tools = [CliRefused(get_text(block, "name")) for block in content if block.get("type") == "tool_use"]
        if get_text(message, "id") in self._streamed:
            return tools
        if self._open and self._said_in_message:
            return (CliFailed(ModelFault.CUT),)
        self._said_in_message = False
        events: list[Event] = []
        for block in content:
            if block.get("type") == "thinking":
                events.append(CliReasoning(get_text(block, "thinking")))
            elif block.get("type") == "text":
                events += self._say(get_text(block, "text"))
        return (*events, *tools)

    def _read_result(self, line: Object) -> Sequence[Event]:
        result = get_text(line, "result")
        if line.get("is_error") or get_text(line, "subtype").startswith("error"):
            errors = line.get("errors")
            said = result or "; ".join(map(str, errors)) if isinstance(errors, list) else result
            return (
                CliFailed(self._fault(line, said), said or get_text(line, "subtype"), self._resets_at, _cost(line)),
            )
        denied = [CliRefused(get_text(denial, "tool_name")) for denial in get_objects(line, "permission_denials")]
        last = () if self._said else self._say(result)
        return (*last, *denied, CliFinished(_usage(get_object(line, "usage")), _cost(line)))

    def _fault(self, line: Object, said: str) -> ModelFault:
        if line.get("stop_reason") == "refusal" or self._refused_answer:
            return ModelFault.FILTERED
        status = get_count(line, "api_error_status")
        if not status and self._error in _FAULTS:
            return _FAULTS[self._error]
        if self._resets_at is not None:
            return ModelFault.RATE_LIMIT
        return classify_fault(said, status, ModelFault.GARBAGE)


def _cost(line: Object) -> int | None:
    dollars = get_number(line, "total_cost_usd")
    return None if dollars is None else math.ceil(round(dollars * 1_000_000, 3))


def _usage(usage: Object) -> Usage:
    read, written = get_count(usage, "cache_read_input_tokens"), get_count(usage, "cache_creation_input_tokens")
    return Usage(get_count(usage, "input_tokens") + read + written, get_count(usage, "output_tokens"), read, written)
