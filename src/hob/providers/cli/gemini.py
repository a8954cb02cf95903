"""Gemini CLI as a model: https://geminicli.com/docs/cli/headless.

A policy denies it every tool that does anything. Its working directory, which is trusted and otherwise empty, holds
settings that keep it from asking again by itself: it would say again what was shown already. The owner's `GEMINI.md`
remains. It does not tell that an answer was cut at its limit or withheld in part.
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
    CliSaid,
    Event,
    fault_of,
)
from hob.providers.cli.program import NO_SYSTEM, Cli, CliFacts, CliRequest, defused
from hob.providers.http.fields import Object, count_in, object_in, text_in

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
        "GEMINI_CLI_TRUST_WORKSPACE": "true",  # else its settings are not read
        "GEMINI_CLI_NO_RELAUNCH": "true",  # it would start itself a second time
        "COLORTERM": "truecolor",
        "NO_COLOR": "1",
    },
    workplace={".gemini/settings.json": json.dumps(_SETTINGS, indent=1)},
    exits_with_status=True,
)
# Without any tool it sends an empty list of them, which Gemini refuses. These two change nothing and read nothing.
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
"""Its own name for the newest model of that size. Left to choose, it first asks a model which model to ask."""
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
        return {"system.md": f"{system or NO_SYSTEM}\n\n{_AT_SIGNS}", "policy.toml": _POLICY}

    def prompt(self, text: str) -> str:
        """As `Cli.prompt`: it takes `@name` for a file to read, and `a@b.c` for one with a blank before it."""
        return re.sub(r"(?<!\\)@", r"\\@", defused(text))

    def decoder(self) -> "GeminiCliDecoder":
        return GeminiCliDecoder()


class GeminiCliDecoder:
    """Reads the lines of `--output-format stream-json`."""

    def __init__(self) -> None:
        self._error = ""
        self._called = False
        self._said = False

    def feed(self, line: Object) -> Sequence[Event]:
        match line.get("type"):
            case "message":
                return self._say(text_in(line, "content")) if line.get("role") == "assistant" else ()
            case "init":
                return (CliOpened(text_in(line, "session_id"), text_in(line, "model")),)
            case "tool_use":
                self._called = True
                tool = text_in(line, "tool_name")
                return () if tool in _HARMLESS else (CliRefused(tool),)
            case "error":
                if line.get("severity") == "error":
                    self._error = text_in(line, "message")
            case "result":
                return self._read_result(line)
        return ()

    def _say(self, text: str) -> Sequence[Event]:
        if not text:
            return ()
        parted, self._called = self._called and self._said, False
        self._said = True
        return (CliSaid("\n\n"), CliSaid(text)) if parted else (CliSaid(text),)

    def _read_result(self, line: Object) -> Sequence[Event]:
        if line.get("status") != "success":
            said = text_in(object_in(line, "error"), "message") or self._error
            inner = _API_ERROR.search(said)
            return (CliFailed(fault_of(inner[1] if inner else said), said),)
        stats = object_in(line, "stats")
        sent, cached = count_in(stats, "input_tokens"), count_in(stats, "cached")
        # what it thought is in the total alone
        output = max(count_in(stats, "output_tokens"), count_in(stats, "total_tokens") - sent)
        return (CliFinished(Usage(sent, output, min(cached, sent)) if stats else None),)
