"""What is wanted of a set-up, and what came of each of its steps."""

from collections.abc import Sequence
from dataclasses import field
from enum import StrEnum
from typing import Any, Protocol

from hob.core.values import dataclass


class StepStatus(StrEnum):
    """How a step ended."""

    DONE = "done"
    KEPT = "kept"
    """It was so already."""
    SKIPPED = "skipped"
    """It was not asked for."""
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class SetupOutcome:
    """One step's end. `next` is what a person can do now, empty where nothing has to be done."""

    step: str
    status: StepStatus
    told: str
    next: str = ""

    def as_json(self) -> dict[str, Any]:
        """For programs, in English."""
        return {"step": self.step, "status": self.status.value, "told": str(self.told), "next": str(self.next)}


@dataclass(frozen=True, slots=True)
class SetupOptions:
    """What was asked for on the command line; None, or an empty text, is not said."""

    model: str = ""
    base_url: str = ""
    provider: str = ""
    key: str = ""
    """A reference, or `-`: it is read from standard input."""
    keep_key: str = ""
    """Where a key is kept: file, keyring or env."""
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
        """Whether anything is said about the model."""
        return bool(self.model or self.base_url or self.provider or self.key)


class SetupPrompts(Protocol):
    """The person who answers questions. Each method raises EOFError or KeyboardInterrupt when the person leaves."""

    def choose(self, question: str, options: Sequence[tuple[str, str]], default: str = "") -> str:
        """The value of the chosen option; options are values with what people read."""

    def read(self, question: str, default: str = "") -> str:
        """One line, the default for an empty one."""

    def read_secret(self, question: str) -> str:
        """One line that is not shown while it is typed."""

    def show(self, text: str, colour: str = "") -> None:
        """A line for the person."""


def confirm(prompts: SetupPrompts, question: str, *, default: bool) -> bool:
    """Yes or no."""
    return prompts.choose(question, (("yes", "Yes"), ("no", "No")), "yes" if default else "no") == "yes"


@dataclass(slots=True)
class SetupReport:
    """All outcomes so far."""

    outcomes: list[SetupOutcome] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(outcome.status is not StepStatus.FAILED for outcome in self.outcomes)
