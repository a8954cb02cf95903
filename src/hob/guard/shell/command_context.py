"""One command and where it stands, as the rules see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from hob.core.tools import Effect
from hob.guard.shell.arguments import Args
from hob.guard.shell.commands import SimpleCommand
from hob.guard.shell.findings import NO_EFFECTS, ShellFinding, ShellSeverity
from hob.guard.shell.places import Map, ShellPlace


class Scene(NamedTuple):
    """What a rule looks at. `refusals` tells what is never to be done of a text that the command runs as a command."""

    command: SimpleCommand
    map: Map
    refusals: Callable[[str, Scene], Iterator[ShellFinding]]

    @property
    def name(self) -> str:
        """The program's name without its directory."""
        return self.command.name

    @property
    def args(self) -> Args:
        """The arguments."""
        return self.command.argv[1:]

    def place(self, path: str) -> ShellPlace:
        """What kind of place a path in this command leads to."""
        return self.map.place(path, self.command.directory)

    def resolve(self, path: str) -> str:
        """The path without `.` and `..`."""
        return self.map.resolve(path, self.command.directory)

    def refuse(self, rule: str, reason: str) -> ShellFinding:
        """Never."""
        return ShellFinding(ShellSeverity.REFUSE, rule, reason, self._text())

    def ask(self, rule: str, reason: str, effects: frozenset[Effect] = NO_EFFECTS, hosts: Args = ()) -> ShellFinding:
        """Ask the owner."""
        return ShellFinding(ShellSeverity.ASK, rule, reason, self._text(), effects, hosts)

    def tell(self, rule: str, reason: str, effects: frozenset[Effect], hosts: Args = ()) -> ShellFinding:
        """Plain, but it has effects."""
        return ShellFinding(ShellSeverity.PLAIN, rule, reason, self._text(), effects, hosts)

    def _text(self) -> str:
        return self.command.text or self.command.line()


Rule = Callable[[Scene], Iterator[ShellFinding]]
Rules = dict[str, Rule]
