"""The guard over this home: rules, ledger and what they need to see of the other parts. Heavy: loaded when needed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from os.path import lexists
from pathlib import Path

from hob.agent import AgentSettings
from hob.agent.prompt.aging import age
from hob.agent.prompt.pairing import pair
from hob.agent.window import select
from hob.app.approving import Approving
from hob.app.foreign_writes import NotedWrites
from hob.app.guard_when_needed import contacts_of
from hob.app.hands import Hands
from hob.app.hands_when_needed import FOLDER
from hob.app.obeyed import places_of
from hob.app.situations import TurnSituations
from hob.app.telling import Telling
from hob.bus import Lanes
from hob.config import Config
from hob.core.clock import Clock
from hob.core.errors import NotConfigured
from hob.core.files import BootstrapFile
from hob.core.labels import SenderClass
from hob.core.messages import FETCHED_CHANNELS, TOKEN_SENDER, Inbound
from hob.core.models import Entry
from hob.core.people import OWNER_ID
from hob.core.screening.detectors import find
from hob.core.screening.kinds import Kind
from hob.core.tools import ToolSpec
from hob.core.turns import View
from hob.guard.admission.actions import ActionRates, TooOften
from hob.guard.admission.lines import Line, say_line
from hob.guard.admission.people import People, address_of
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.approvals import ApprovalLedger
from hob.guard.audit import of_rate
from hob.guard.binding import Binder
from hob.guard.commands import command_reader
from hob.guard.context import Sandbox
from hob.guard.deeds import Reader
from hob.guard.hard_rules import HardRules
from hob.guard.judge import PolicyJudge
from hob.guard.pace import Pace
from hob.guard.policy import Policy
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.store import Store
from hob.tools.sandbox.environment import search_path
from hob.tools.sandbox.hosts import HostRules, host_name
from hob.tools.sandbox.settings import SandboxSettings
from hob.tools.sandbox.toolchains import find_toolchains

_PERSONAL = frozenset(Kind)


@dataclass(frozen=True, slots=True)
class Guarded:
    """The guard, made."""

    policy: Policy
    reader: Reader
    judge: PolicyJudge
    approving: Approving


def guard(
    config: Config,
    store: Store,
    lanes: Lanes,
    hands: Hands,
    clock: Clock,
    *,
    specs: Callable[[], Mapping[str, ToolSpec]],
    language: str,
    secrets: Callable[[str], Sequence[str]],
    identity: Callable[[], Sequence[BootstrapFile]],
    people: People,
    telling: Telling,
) -> Guarded:
    """Judge and ledger over an open store and open tools; `specs` are all that turns may call."""
    policy, reader = rules_of(config, hands, secrets)
    ledger = ApprovalLedger(
        store.approvals,
        store.decisions,
        clock,
        config[ApprovalSettings],
        Binder(reader, _search(config[SandboxSettings])),
        hands.diff_of,
        language,
        hands.refusal_of,
    )
    situations = TurnSituations(
        config[PolicySettings],
        store.sessions,
        store.journal,
        store.transcript,
        reader,
        specs,
        BackendHere(hands, config[SandboxSettings]),
        identity,
        lambda: contacts_of(people),
        partial(_shown, config[AgentSettings], clock),
    )
    rates = ActionRates(config[AdmissionSettings].limits, clock)
    pace = Pace(rates, partial(_who_is, people), partial(_alert, store, telling, language))
    foreign = NotedWrites(config.home / FOLDER / "foreign.jsonl", hands.undoing.paths)
    judge = PolicyJudge(policy, reader, situations, store.decisions, ledger, pace, language, foreign)
    return Guarded(policy, reader, judge, Approving(store, lanes, ledger, clock, language))


def _search(settings: SandboxSettings) -> Sequence[str]:
    """Where commands find their programs. Toolchains that are named wrongly keep every command from running."""
    try:
        return search_path(find_toolchains(settings.toolchains, Path.home()).path)
    except NotConfigured:
        return search_path(())


def _who_is(people: People, inbound: Inbound) -> str:
    """Whoever wrote this, over all their addresses."""
    if inbound.origin.channel in FETCHED_CHANNELS:
        return inbound.sender.id if inbound.sender.id.startswith(TOKEN_SENDER) else OWNER_ID
    address = address_of(inbound)
    person = people.find(address)
    return str(address) if person is None else person.id


async def _alert(
    store: Store, telling: Telling, language: str, who: str, app: str, why: TooOften, cls: SenderClass
) -> None:
    await store.audit.add(of_rate(app, "cooled_down", cls, who))
    await telling.tell(say_line(Line.RUSHED, language, who=who, reason=why.reason), "spike", sender=who)


def rules_of(config: Config, hands: Hands, secrets: Callable[[str], Sequence[str]]) -> tuple[Policy, Reader]:
    """The policy of this home, and the reader of calls it needs."""
    places = places_of(config)
    reader = Reader(
        places, command_reader(places), secrets=secrets, personal=_personal, resolve=hands.places_of, stands=lexists
    )
    return Policy(HardRules(places), config[PolicySettings]), reader


class BackendHere:
    """Implements `Confining` by the backend that works here."""

    def __init__(self, hands: Hands, settings: SandboxSettings) -> None:
        self._hands = hands
        self._settings = settings

    async def sandbox(self) -> Sandbox:
        backend = (await self._hands.backend.find()).backend
        rules = HostRules(self._settings.hosts)
        return Sandbox(
            confined=backend.confines,
            versioned=not await self._hands.unkept(),
            plain=self._settings.backend == "plain",
            exposed=not backend.protects,
            reaches=lambda host: rules.allow(host_name(host)),
            online=bool(self._settings.hosts),
        )


def _shown(settings: AgentSettings, clock: Clock, view: View) -> Sequence[Entry]:
    """What of earlier turns a prompt shows whole, or did when the turn began."""
    began = clock.now().timestamp() - settings.run_seconds
    return age(pair(select(view, settings)), began, settings)


def _personal(text: str) -> Sequence[str]:
    return [text[found.start : found.end] for found in find(text, _PERSONAL)]
