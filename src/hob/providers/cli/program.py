"""What Hob must know of a coding CLI to run it as a model, and how one is found."""

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
    """One coding CLI as a model."""

    command: str = setting("", "Its program; empty: its usual name, looked for on PATH.")
    model: str = setting("", "The model that is asked where none is named; empty: the CLI's own choice.")
    arguments: list[str] = setting([], "Further arguments for each run.")
    environment: list[str] = setting([], "Names of further variables that it may see.")
    keep_sessions: bool = setting(True, "Whether it keeps conversations, so that only what is new is sent.")
    idle_seconds: float = setting(300.0, "Seconds it may say nothing.", at_least=1)
    total_seconds: float = setting(1800.0, "Seconds one answer may take in all.", at_least=1)


NO_SYSTEM = "You are a helpful assistant."
"""What a CLI is told where the request has no system text: else it would tell its model to be a coding agent."""


@dataclass(frozen=True, slots=True)
class CliFacts:
    """One CLI as data. `environment` names the variables it may see besides the usual ones, `sets` gives it others.

    `lost` matches its complaint about a conversation that it does not have (any more). `workplace` are files that its
    working directory holds. `running_total` says that its usage counts the whole conversation, not the run; `report` is
    the file in the run's folder that tells it (empty: its last line does). `exits_with_status` says that its exit code
    after a failure is the server's status modulo 256.
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
    """One run. `session` is empty where nothing shall be kept; `scratch` is a folder for this run alone.

    `environ` is the owner's.
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
    """Reads the lines of one run, each a JSON object."""

    def feed(self, line: Mapping[str, Any]) -> Sequence[Event]:
        """What the line says. A line that means nothing to us gives nothing; no line raises."""


class Cli(Protocol):
    """One CLI. Nothing about it runs anything."""

    facts: CliFacts

    def arguments(self, ask: CliRequest) -> tuple[str, ...]:
        """The arguments behind the program's name; the prompt comes through its standard input."""

    def variables(self, ask: CliRequest) -> Mapping[str, str]:
        """Variables of this run."""
        return {}

    def files(self, system: str) -> Mapping[str, str]:
        """Files of the run's folder, by relative path."""
        return {"system.md": system or NO_SYSTEM}

    def prompt(self, text: str) -> str:
        """The text in a form that the CLI passes on as it is: no command, no name of a file to read."""
        return defused(text)

    def decoder(self) -> CliDecoder:
        """Reads one run."""

    def read_report(self, report: Mapping[str, Any]) -> Usage | None:
        """The usage in the CLI's report; None where its last line tells."""
        return None


def open_cli(name: str) -> Cli:
    """The CLI of this name, e.g. `claude-cli`. Raises KeyError."""
    # each module is needed only where its CLI is asked
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
    """The program of the CLI of this name, looked for along `path` (as in PATH); None if it is not installed."""
    return shutil.which(command or CLI_COMMANDS[name], path=path)


def defused(text: str) -> str:
    """The text so that no CLI takes its beginning for a command of its own."""
    return f"> {text}" if text.lstrip()[:1] in ("/", "!", "#", "-", "$", "@") else text
