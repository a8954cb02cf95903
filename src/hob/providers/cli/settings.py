"""How a coding CLI is run."""

from dataclasses import dataclass

from hob.core.settings import setting


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
