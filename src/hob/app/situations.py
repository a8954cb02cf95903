"""What the judge has to know of a turn beside its messages: how its session is set, and what it has read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, TypeVar

from hob.core.errors import NotConfigured
from hob.core.files import BootstrapFile
from hob.core.ports.journal import Journal, Sessions
from hob.core.steps import ModelAsked, Step, ToolIntended, ToolReceived
from hob.core.tools import Effect, ToolSpec
from hob.core.turns import Turn
from hob.guard.context import Sandbox
from hob.guard.deeds import Reader, read_call
from hob.guard.exemptions import urls_in
from hob.guard.judge import Situation
from hob.guard.modes import Autonomy, Mode
from hob.guard.settings import PolicySettings

T = TypeVar("T", bound=StrEnum)
PRIVATE_FILES = frozenset({"USER.md", "MEMORY.md"})
"""Identity files whose words are the owner's alone."""


class Confining(Protocol):
    """Where commands run, found when first asked for."""

    async def sandbox(self) -> Sandbox:
        """As the guard sees it. Raises NotConfigured."""
        ...


class TurnSituations:
    """Implements the judge's `Situations` over the store."""

    def __init__(
        self,
        settings: PolicySettings,
        sessions: Sessions,
        journal: Journal,
        reader: Reader,
        specs: Callable[[], Mapping[str, ToolSpec]],
        confining: Confining,
        identity: Callable[[], Sequence[BootstrapFile]],
        contacts: Callable[[], Mapping[str, tuple[str, ...]]],
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._journal = journal
        self._reader = reader
        self._specs = specs
        self._confining = confining
        self._identity = identity
        self._contacts = contacts

    async def situation(self, turn: Turn, spec: ToolSpec) -> Situation:
        session = await self._sessions.get(turn.session)
        steps = await self._journal.load_steps(turn.id)
        # where commands run takes a moment to find out, and only they are judged by it
        sandbox = await self._sandbox() if Effect.EXECUTES in spec.effects else Sandbox()
        private = tuple(self._private(steps, sandbox))
        files = [each.text for each in self._identity() if each.name in PRIVATE_FILES]
        return Situation(
            mode=_word(Mode, session.permission or self._settings.mode),
            autonomy=_word(Autonomy, session.autonomy or self._settings.autonomy),
            model=next((step.model for step in reversed(steps) if isinstance(step, ModelAsked)), ""),
            depth=max((inbound.hops for inbound in turn.inbounds), default=0),
            sandbox=sandbox,
            private=tuple(dict.fromkeys(name for names, _ in private for name in names)),
            searched=self._searched(steps),
            private_texts=(*files, *(text for _, text in private if text)),
            contacts=self._contacts(),
        )

    async def _sandbox(self) -> Sandbox:
        try:
            return await self._confining.sandbox()
        except NotConfigured:  # the call itself says what is missing
            return Sandbox(confined=False, versioned=False)

    def _private(self, steps: Sequence[Step], sandbox: Sandbox) -> Iterator[tuple[tuple[str, ...], str]]:
        """What the turn's calls have read of the owner's: names, and the text."""
        specs = self._specs()
        told = {step.result.call: step.result.text for step in steps if isinstance(step, ToolReceived)}
        for step in steps:
            spec = specs.get(step.call.name) if isinstance(step, ToolIntended) else None
            if isinstance(step, ToolIntended) and spec is not None and Effect.READS_PRIVATE in spec.effects:
                deed = read_call(step.call, spec, self._reader, sandbox)
                yield (deed.paths if deed and deed.paths else (spec.name,)), told.get(step.call.id, "")

    def _searched(self, steps: Sequence[Step]) -> frozenset[str]:
        """The addresses that the search provider gave."""
        asked = {step.call.id for step in steps if isinstance(step, ToolIntended) and self._searches(step.call.name)}
        if not asked:
            return frozenset()
        gave = [step.result for step in steps if isinstance(step, ToolReceived) and step.result.call in asked]
        return frozenset().union(*(urls_in(result.text) for result in gave if not result.is_error))

    def _searches(self, tool: str) -> bool:
        reading = self._reader.readings.get(tool)
        return reading is not None and reading.searches


def _word(kind: type[T], word: str) -> T:
    """The mode or level of this name; the strictest, which is the first, where an older Hob knew it under another."""
    return next((each for each in kind if each.value == word), next(iter(kind)))
