"""Interface of a coding CLI used as a model, and how to find its program."""

import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Protocol

from hob.core.models import Thinking, Usage
from hob.core.settings import setting
from hob.core.values import dataclass
from hob.providers.catalog.catalog import CLI_COMMANDS
from hob.providers.cli.events import Event

# How a coding CLI is run.


@dataclass(frozen=True, slots=True)
class CliSettings:
    """Settings of a coding CLI used as a model."""

    command: str = setting("", "Its program; empty: its usual name on PATH.")
    model: str = setting("", "Model used if none is named; empty: the CLI's default.")
    arguments: list[str] = setting([], "Additional arguments for each run.")
    environment: list[str] = setting([], "Names of additional environment variables that it may see.")
    keep_sessions: bool = setting(True, "Whether it keeps conversations, so that only new messages are sent.")
    idle_seconds: float = setting(300.0, "Maximum seconds without output.", at_least=1)
    total_seconds: float = setting(1800.0, "Maximum seconds for one answer.", at_least=1)


DEFAULT_SYSTEM = "You are a helpful assistant."
"""System text for requests without one: otherwise the CLI tells its model to be a coding agent."""


@dataclass(frozen=True, slots=True)
class CliFacts:
    """A CLI as data. `environment` names variables it may see besides the usual ones; `sets` defines more.

    `lost` matches its message about an unknown conversation. `workplace` are files in its working directory.
    `running_total` says that its usage covers the whole conversation, not the run; `report` is the file in the run's
    folder with the usage (if empty, the last line has it). `exits_with_status` says that the exit code of a failure is
    the server's HTTP status modulo 256.
    """

    name: str
    title: str
    package: str
    login: str
    environment: tuple[str, ...]
    lost: re.Pattern[str]
    sets: Mapping[str, str]
    workplace: Mapping[str, str]
    running_total: bool = False
    report: str = ""
    exits_with_status: bool = False


@dataclass(frozen=True, slots=True)
class CliRequest:
    """One run. `session` is empty if the conversation is not kept; `scratch` is a folder for this run alone.

    `environ` is the owner's environment.
    """

    scratch: Path
    model: str = ""
    session: str = ""
    resumes: bool = False
    thinking: Thinking | None = None
    max_tokens: int = 4096
    further: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)


class CliDecoder(Protocol):
    """Decoder for the lines of one run, each a JSON object."""

    def feed(self, line: Mapping[str, Any]) -> Sequence[Event]:
        """Return the events of a line; none if it is irrelevant. Never raises."""


class Cli(Protocol):
    """One CLI. Its methods run nothing."""

    facts: CliFacts

    def arguments(self, ask: CliRequest) -> tuple[str, ...]:
        """Return the arguments after the program name; the prompt goes to standard input."""

    def variables(self, ask: CliRequest) -> Mapping[str, str]:
        """Return the variables for this run."""
        return {}

    def files(self, system: str) -> Mapping[str, str]:
        """Return the files of the run's folder by relative path."""
        return {"system.md": system or DEFAULT_SYSTEM}

    def prompt(self, text: str) -> str:
        """Escape a text so that the CLI passes it on unchanged: no commands, no file references."""
        return escape_commands(text)

    def decoder(self) -> CliDecoder:
        """Return a decoder for one run."""

    def read_report(self, report: Mapping[str, Any]) -> Usage | None:
        """Return the usage from the CLI's report; None if its last line has it."""
        return None


def open_cli(name: str) -> Cli:
    """Return the CLI of this name, e.g. `claude-cli`. Raises KeyError."""
    # each module is needed only if its CLI is used
    match name:
        case "claude-cli":
            from hob.providers.cli.claude import ClaudeCli

            return ClaudeCli()
        case "codex-cli":
            from hob.providers.cli.codex import CodexCli

            return CodexCli()
        case "gemini-cli":
            from hob.providers.cli.gemini import GeminiCli

            return GeminiCli()
        case "copilot-cli":
            from hob.providers.cli.copilot import CopilotCli

            return CopilotCli()
    raise KeyError(name)


def find_cli(name: str, path: str, command: str = "") -> str | None:
    """Find the program of a CLI along `path` (as in PATH); None if it is not installed."""
    return shutil.which(command or CLI_COMMANDS[name], path=path)


def escape_commands(text: str) -> str:
    """Escape the beginning of a text so that no CLI takes it for a command."""
    return f"> {text}" if text.lstrip()[:1] in ("/", "!", "#", "-", "$", "@") else text
