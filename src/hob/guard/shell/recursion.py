"""Fork bombs: functions that call themselves in parallel, scripts that start themselves, endless loops that fork."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hob.guard.shell.commands import SimpleCommand
from hob.guard.shell.tree import Block, Function, Pipeline, Simple

_ITSELF = re.compile(r"\$(?:0|\{0\}|BASH_SOURCE|\{BASH_SOURCE)")
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "ash", "exec", "setsid", "nohup", "source", "."})
_PAUSES = frozenset({"sleep", "wait", "break", "exit", "return", "read", "inotifywait", "fg"})


class _Frame(NamedTuple):
    name: str
    branches: int


class CallGraph:
    """The functions of a text and their calls."""

    def __init__(self) -> None:
        self.branches = 0  # enclosing conditions and loops within the function
        self._texts: dict[str, str] = {}
        self._edges: dict[str, dict[str, bool]] = {}  # caller to callee; whether the call forks
        self._frames: list[_Frame] = []
        self._pipelines: list[bool] = []  # whether more than one of its commands calls a function
        self._loops: dict[str, None] = {}

    @property
    def piped(self) -> bool:
        """Whether the current command is in a pipeline."""
        return bool(self._pipelines)

    def is_within(self, name: str) -> bool:
        """Return whether this function's body is being followed."""
        return any(frame.name == name for frame in self._frames)

    def enter(self, name: str, text: str) -> None:
        """Enter a function body."""
        self._texts[name] = text
        self._frames.append(_Frame(name, self.branches))
        self.branches = 0

    def leave(self) -> None:
        """Leave the function body."""
        self.branches = self._frames.pop().branches

    def enter_pipeline(self, pipeline: Pipeline, functions: dict[str, Function]) -> None:
        """Enter a pipeline."""
        names = [stage.words[0].literal for stage in pipeline.stages if isinstance(stage, Simple) and stage.words]
        self._pipelines.append(sum(1 for name in names if name in functions or self.is_within(name or "")) > 1)

    def leave_pipeline(self) -> None:
        """Leave the pipeline."""
        self._pipelines.pop()

    def add(self, name: str, background: bool) -> None:
        """Record a call of a function from the current one."""
        if self._frames:
            forks = background or any(self._pipelines) or (bool(self._pipelines) and not self.branches)
            edges = self._edges.setdefault(self._frames[-1].name, {})
            edges[name] = edges.get(name, False) or forks

    def record_loop(self, text: str, inside: Sequence[SimpleCommand]) -> None:
        """Record an endless loop and the commands in it."""
        pauses = any(command.name in _PAUSES and not command.background for command in inside)
        if any(command.background for command in inside) and not pauses:
            self._loops[text] = None

    def bombs(self) -> dict[str, None]:
        """Return the texts that multiply endlessly."""
        found = dict(self._loops)
        for caller, edges in self._edges.items():
            for callee, forks in edges.items():
                if forks and caller in self._reached(callee):
                    found[self._texts.get(caller, caller)] = None
        return found

    def _reached(self, start: str) -> set[str]:
        reached, waiting = {start}, [start]
        while waiting:
            for callee in self._edges.get(waiting.pop(), ()):
                if callee not in reached:
                    reached.add(callee)
                    waiting.append(callee)
        return reached


def starts_itself(node: Simple) -> bool:
    """Return whether the command starts the script it is part of."""
    name = node.words[0]
    if _ITSELF.search(name.text):
        return True
    return name.literal in _SHELLS and any(_ITSELF.match(word.text.strip('"')) for word in node.words[1:3])


def is_endless(node: Block, test: Sequence[SimpleCommand]) -> bool:
    """Return whether the loop's test can never end the loop."""
    sure = frozenset({":", "true"}) if node.kind == "while" else frozenset({"false"})
    if test:
        return all(command.name in sure or command.argv[:2] in (("[", "1"), ("test", "1")) for command in test)
    return node.kind == "while" and re.match(r"while\s+(?:\(\(\s*1\s*\)\)|\[\[\s*1\s*\]\])", node.text) is not None
