"""Options of the setup, and the outcome of each step."""

from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any, Protocol

from hob.core.values import dataclass


class StepStatus(StrEnum):
    """How a step ended."""

    DONE = "done"
    KEPT = "kept"
    """Nothing had to be changed."""
    SKIPPED = "skipped"
    """The step was not requested."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SetupOutcome:
    """A step's outcome. `next` says what to do now; empty if nothing."""

    step: str
    status: StepStatus
    told: str
    next: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the outcome in English, for programs."""
        return {"step": self.step, "status": self.status.value, "told": str(self.told), "next": str(self.next)}


@dataclass(frozen=True, slots=True)
class SetupOptions:
    """Options of the command line; None or an empty text means not given."""

    model: str = ""
    base_url: str = ""
    provider: str = ""
    key: str = ""
    """A reference, or `-` to read the key from standard input."""
    keep_key: str = ""
    """Where to keep a key: file, keyring or env."""
    name: str | None = None
    language: str = ""
    packages: bool | None = None
    search: str = ""
    monthly: float | None = None
    service: bool | None = None
    accept: bool = False
    test: bool = True

    @property
    def names_model(self) -> bool:
        """Return whether any option names a model."""
        return bool(self.model or self.base_url or self.provider or self.key)


class SetupPrompts(Protocol):
    """Asks the person at the terminal. Each method raises EOFError or KeyboardInterrupt if the person leaves."""

    def choose(self, question: str, options: Sequence[tuple[str, str]], default: str = "") -> str:
        """Return the value of the chosen option; `options` maps values to labels."""

    def read(self, question: str, default: str = "") -> str:
        """Return one line; the default for an empty one."""

    def read_secret(self, question: str) -> str:
        """Return one line that is hidden while typed."""

    def show(self, text: str, colour: str = "") -> None:
        """Print a line."""


def confirm(prompts: SetupPrompts, question: str, *, default: bool) -> bool:
    """Ask yes or no."""
    return prompts.choose(question, (("yes", "Yes"), ("no", "No")), "yes" if default else "no") == "yes"


@dataclass(slots=True)
class SetupReport:
    """All outcomes so far."""

    outcomes: list[SetupOutcome] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether no step failed."""
        return all(outcome.status is not StepStatus.FAILED for outcome in self.outcomes)
