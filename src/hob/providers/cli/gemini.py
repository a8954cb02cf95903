"""Gemini CLI as a model: https://geminicli.com/docs/cli/headless.

A policy denies every tool that does anything. Its working directory, which is trusted and otherwise empty, contains
settings that disable its own retries, which would repeat what was already shown. The owner's `GEMINI.md` still applies.
The CLI does not report that an answer was cut at its limit or partly withheld.
"""

import json
import re
from collections.abc import Mapping, Sequence

from hob.core.models import Usage
from hob.providers.cli.events import (
    CliFailed,
    CliFinished,
    CliOpened,
    CliRefused,
    CliText,
    Event,
    classify_fault,
)
from hob.providers.cli.program import DEFAULT_SYSTEM, Cli, CliFacts, CliRequest, escape_commands
from hob.providers.http.fields import Object, get_count, get_object, get_text

_SETTINGS = {
    "general": {
        "maxAttempts": 1,
        "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False,
        "sessionRetention": {"enabled": True, "maxAge": "7d"},
    },
    "context": {"includeDirectoryTree": False},
    "hooksConfig": {"enabled": False},
    "skills": {"enabled": False},
    "experimental": {"enableAgents": False, "plan": False},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}
FACTS = CliFacts(
    name="gemini-cli",
    title="Gemini CLI",
    package="@google/gemini-cli",
    login="run `gemini` once and log in, or set GEMINI_API_KEY",
    environment=(
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "GOOGLE_CLOUD_LOCATION",
        "GOOGLE_CLOUD_PROJECT",
        "GOOGLE_GEMINI_BASE_URL",
        "GOOGLE_GENAI_USE_GCA",
        "GOOGLE_GENAI_USE_VERTEXAI",
        "GEMINI_CLI_HOME",
    ),
    lost=re.compile(r"Error resuming session|Invalid session identifier|Error starting session", re.IGNORECASE),
    sets={
        "GEMINI_CLI_TRUST_WORKSPACE": "true",  # otherwise its settings are not read
        "GEMINI_CLI_NO_RELAUNCH": "true",  # otherwise it starts a second copy of itself
        "COLORTERM": "truecolor",
        "NO_COLOR": "1",
    },
    workplace={".gemini/settings.json": json.dumps(_SETTINGS, indent=1)},
    exits_with_status=True,
)
# Without any tool it sends an empty list, which Gemini refuses. These two neither change nor read anything.
_HARMLESS = ("update_topic", "write_todos")
_POLICY = f"""\
[[rule]]
toolName = {json.dumps(_HARMLESS)}
decision = "allow"
priority = 999

[[rule]]
toolName = "*"
decision = "deny"
priority = 998
"""
_USUAL_MODEL = "flash"
"""The CLI's name for the newest model of that size. Without one it first asks a model which model to use."""
_AT_SIGNS = r"In messages to you an at sign may be written `\@`; read and write it as `@`."
_API_ERROR = re.compile(r"\[API Error: (.*)\]", re.DOTALL)


class GeminiCli(Cli):
    """Implements `Cli`."""

    facts = FACTS

    def arguments(self, ask: CliRequest) -> tuple[str, ...]:
        session = ("--resume" if ask.resumes else "--session-id", ask.session)
        return (
            *("--output-format", "stream-json", "--skip-trust", "--extensions", "none"),
            *("--allowed-mcp-server-names", "none", "--admin-policy", str(ask.scratch / "policy.toml")),
            *("--model", ask.model or _USUAL_MODEL),
            *(session if ask.session else ()),
            *ask.further,
        )

    def variables(self, ask: CliRequest) -> Mapping[str, str]:
        return {"GEMINI_SYSTEM_MD": str(ask.scratch / "system.md")}

    def files(self, system: str) -> Mapping[str, str]:
        return {"system.md": f"{system or DEFAULT_SYSTEM}\n\n{_AT_SIGNS}", "policy.toml": _POLICY}

    def prompt(self, text: str) -> str:
        """Escape the text: `@name` means a file to read, and `a@b.c` is one after a space."""
        return re.sub(r"(?<!\\)@", r"\\@", escape_commands(text))

    def decoder(self) -> "GeminiCliDecoder":
        return GeminiCliDecoder()


class GeminiCliDecoder:
    """Decoder of the lines of `--output-format stream-json`."""

    def __init__(self) -> None:
        self._error = ""
        self._called = False
        self._said = False

    def feed(self, line: Object) -> Sequence[Event]:
        match line.get("type"):
            case "message":
                return self._say(get_text(line, "content")) if line.get("role") == "assistant" else ()
            case "init":
                return (CliOpened(get_text(line, "session_id"), get_text(line, "model")),)
            case "tool_use":
                self._called = True
                tool = get_text(line, "tool_name")
                return () if tool in _HARMLESS else (CliRefused(tool),)
            case "error":
                if line.get("severity") == "error":
                    self._error = get_text(line, "message")
            case "result":
                return self._read_result(line)
        return ()

    def _say(self, text: str) -> Sequence[Event]:
        if not text:
            return ()
        parted, self._called = self._called and self._said, False
        self._said = True
        return (CliText("\n\n"), CliText(text)) if parted else (CliText(text),)

    def _read_result(self, line: Object) -> Sequence[Event]:
        if line.get("status") != "success":
            said = get_text(get_object(line, "error"), "message") or self._error
            inner = _API_ERROR.search(said)
            return (CliFailed(classify_fault(inner[1] if inner else said), said),)
        stats = get_object(line, "stats")
        sent, cached = get_count(stats, "input_tokens"), get_count(stats, "cached")
        # reasoning tokens are only in the total
        output = max(get_count(stats, "output_tokens"), get_count(stats, "total_tokens") - sent)
        return (CliFinished(Usage(sent, output, min(cached, sent)) if stats else None),)
