"""A scripted person, and a machine with nothing but a model server."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from hob.app.settings.sections import read_config
from hob.cli.onboarding.detection import DetectedModel, detect_models
from hob.cli.onboarding.report import SetupOptions, SetupOutcome, SetupReport, StepStatus
from hob.cli.onboarding.steps import set_up
from hob.testing.model_server import ModelServer
from tests.app.managers import put_managers

KEPT = ("PATH", "TMPDIR", "COVERAGE_PROCESS_START", "PYTHONPATH")


@dataclass(slots=True)
class Person:
    """Implements `SetupPrompts`: each question must contain the words of the script, in this order."""

    script: list[tuple[str, str]]
    heard: list[str] = field(default_factory=list)
    offered: list[Sequence[tuple[str, str]]] = field(default_factory=list)

    def choose(self, question: str, options: Sequence[tuple[str, str]], default: str = "") -> str:
        self.offered.append(options)
        answer = self._answer(question)
        if not answer:
            return default or options[0][0]
        return next(value for value, text in options if value == answer or answer in text)

    def read(self, question: str, default: str = "") -> str:
        return self._answer(question) or default

    def read_secret(self, question: str) -> str:
        return self._answer(question)

    def show(self, text: str, colour: str = "") -> None:
        self.heard.append(text)

    def _answer(self, question: str) -> str:
        if not self.script:
            raise KeyboardInterrupt
        words, answer = self.script.pop(0)
        assert words in question, f"asked {question!r}, expected {words!r}"
        return answer


SEARCH = ("Which search service", "")
REST = [("call you", ""), ("own messages", ""), ("packages", ""), SEARCH, ("Dollars", ""), ("background", "")]
"""Enter at every question after the model."""


@dataclass(frozen=True, slots=True)
class Machine:
    """A home and its environment."""

    root: Path
    server: ModelServer
    patch: pytest.MonkeyPatch

    @property
    def home(self) -> Path:
        return self.root / ".hob"

    @property
    def config(self) -> str:
        path = self.home / "config.toml"
        return path.read_text() if path.exists() else ""

    @property
    def secrets(self) -> dict[str, str]:
        return {file.name: file.read_text() for file in (self.home / "secrets").glob("*model*")}

    def begin(self) -> None:
        """Start without the tester's own settings."""
        for name in list(os.environ):
            if name not in KEPT:
                self.patch.delenv(name)
        self.patch.setenv("HOME", str(self.root))
        self.patch.setenv("FAKE", str(self.root))
        put_managers(self.root / "bin")  # the tester's services are not touched
        self.patch.setenv("PATH", f"{self.root / 'bin'}:{os.environ['PATH']}")

    def set_up(
        self, options: SetupOptions | None = None, person: Person | None = None, *, key: str = ""
    ) -> SetupReport:
        """Run all steps."""
        return set_up(
            self.home, options or SetupOptions(), person, self.look, read_key=lambda: key, on_outcome=_be_silent
        )

    def look(self) -> tuple[DetectedModel, ...]:
        """Detect models, except at the usual addresses of other servers: the tester may run some."""
        return detect_models(read_config(), ())


def _be_silent(_: SetupOutcome) -> None:
    pass


def statuses(report: SetupReport) -> dict[str, StepStatus]:
    return {outcome.step: outcome.status for outcome in report.outcomes}
