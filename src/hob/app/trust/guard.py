"""The guard of a home: policy, ledger and their inputs. Slow to import: loaded on first use."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from os.path import lexists
from pathlib import Path

from hob.agent.prompt.untrusted_expiry import age
from hob.agent.prompt.window import pair, select
from hob.agent.settings import AgentSettings
from hob.app.notifications.owner_notifier import OwnerNotifier
from hob.app.tools.executable_config import places_of
from hob.app.tools.runtime import ToolRuntime, executable_config_below
from hob.app.trust.approvals import ApprovalService
from hob.app.trust.lazy_guard import Guard, contacts_of
from hob.app.trust.policy_inputs import TurnPolicyInputs
from hob.bus.session_queues import SessionQueues
from hob.config.loading import Config
from hob.core.clock import Clock
from hob.core.content.files import BootstrapFile
from hob.core.errors import NotConfigured
from hob.core.ids import TurnId
from hob.core.messages import POLLED_CHANNELS, TOKEN_SENDER_PREFIX, Inbound
from hob.core.models import TranscriptEntry
from hob.core.screening.detectors import find_sensitive
from hob.core.screening.kinds import SensitiveKind
from hob.core.tools import ToolSpec
from hob.core.trust.labels import SenderClass
from hob.core.trust.people import OWNER_ID
from hob.core.turns import TranscriptView
from hob.guard.admission.actions import ActionRates, RateLimited
from hob.guard.admission.events import AdmissionSentence, say_line
from hob.guard.admission.people import People, sender_address
from hob.guard.admission.settings import AdmissionSettings
from hob.guard.approvals.binding import Binder
from hob.guard.approvals.ledger import ApprovalLedger
from hob.guard.audit.entries import of_rate
from hob.guard.policy.call_analysis import ArgumentReader
from hob.guard.policy.commands import command_reader
from hob.guard.policy.context import Sandbox
from hob.guard.policy.hard_rules import HardRules
from hob.guard.policy.judge import PolicyJudge
from hob.guard.policy.policy import Policy
from hob.guard.policy.rate_limits import ToolRateLimit
from hob.guard.settings import ApprovalSettings, PolicySettings
from hob.store.store import Store
from hob.store.tools.tainted_writes import StoredTaintedWrites
from hob.tools.browser.settings import BrowserSettings
from hob.tools.sandbox.environment_variables import search_path
from hob.tools.sandbox.network.hosts import HostRules, host_name
from hob.tools.sandbox.settings import SandboxSettings
from hob.tools.sandbox.toolchains import find_toolchains
from hob.workspace.settings import WorkspaceSettings

_PERSONAL = frozenset(SensitiveKind)


def build_guard(
    config: Config,
    store: Store,
    session_queues: SessionQueues,
    tool_runtime: ToolRuntime,
    clock: Clock,
    *,
    specs: Callable[[], Mapping[str, ToolSpec]],
    language: str,
    secrets: Callable[[str], Sequence[str]],
    identity: Callable[[], Sequence[BootstrapFile]],
    people: People,
    notifier: OwnerNotifier,
) -> Guard:
    """Make judge and ledger for an open store and open tools. `specs` are all tools that turns may call."""
    policy, reader = make_policy(config, tool_runtime, secrets)
    ledger = ApprovalLedger(
        store.approvals,
        store.decisions,
        clock,
        config[ApprovalSettings],
        Binder(reader, _search_path(config[SandboxSettings]), specs),
        tool_runtime.diff_of,
        language,
        tool_runtime.refusal_of,
    )
    policy_inputs = TurnPolicyInputs(
        config[PolicySettings],
        store.sessions,
        store.journal,
        store.transcript,
        reader,
        specs,
        BackendSandbox(tool_runtime, config),
        identity,
        lambda: contacts_of(people),
        partial(_shown_entries, config[AgentSettings], clock),
    )
    rates = ActionRates(config[AdmissionSettings].limits, clock)
    rate_limit = ToolRateLimit(rates, partial(_author_id, people), partial(_alert, store, notifier, language))
    tainted_writes = TaintedFiles(store.tainted_writes, tool_runtime.turn_undo.paths)
    judge = PolicyJudge(policy, reader, policy_inputs, store.decisions, ledger, rate_limit, tainted_writes)
    return Guard(judge, ApprovalService(store, session_queues, ledger, clock, language))


def _search_path(settings: SandboxSettings) -> Sequence[str]:
    """Return where commands find their programs. Invalid toolchains already prevent every command from running."""
    try:
        return search_path(find_toolchains(settings.toolchains, Path.home()).path)
    except NotConfigured:
        return search_path(())


def _author_id(people: People, inbound: Inbound) -> str:
    """Return the author's person id, or address if unknown."""
    if inbound.origin.channel in POLLED_CHANNELS:
        return inbound.sender.id if inbound.sender.id.startswith(TOKEN_SENDER_PREFIX) else OWNER_ID
    address = sender_address(inbound)
    person = people.find(address)
    return str(address) if person is None else person.id


async def _alert(
    store: Store, notifier: OwnerNotifier, language: str, who: str, app: str, why: RateLimited, cls: SenderClass
) -> None:
    await store.audit.add(of_rate(app, "cooled_down", cls, who))
    await notifier.notify(say_line(AdmissionSentence.RUSHED, language, who=who, reason=why.reason), "spike", sender=who)


def make_policy(
    config: Config, tool_runtime: ToolRuntime, secrets: Callable[[str], Sequence[str]]
) -> tuple[Policy, ArgumentReader]:
    """Return this home's policy, and the argument reader it needs."""
    places = places_of(config)
    reader = ArgumentReader(
        places,
        command_reader(places),
        secrets=secrets,
        personal=_personal_data,
        resolve=tool_runtime.places_of,
        file_exists=lexists,
        hosts=frozenset(config[BrowserSettings].hosts),
    )
    return Policy(HardRules(places), config[PolicySettings]), reader


class BackendSandbox:
    """Implements `SandboxPort` with the backend that works here."""

    def __init__(self, tool_runtime: ToolRuntime, config: Config) -> None:
        self._tool_runtime = tool_runtime
        self._settings = config[SandboxSettings]
        self._has_executable_config = bool(executable_config_below(config[WorkspaceSettings], self._settings))

    async def sandbox(self) -> Sandbox:
        backend = (await self._tool_runtime.backend.find()).backend
        rules = HostRules(self._settings.hosts)
        return Sandbox(
            confined=backend.is_sandbox,
            versioned=not await self._tool_runtime.unrecoverable(),
            plain=self._settings.backend == "plain",
            exposed=not backend.protects_files and self._has_executable_config,
            late=not backend.protects_files,
            reaches=lambda host: rules.allow(host_name(host)),
            online=bool(self._settings.hosts),
        )


def _shown_entries(settings: AgentSettings, clock: Clock, view: TranscriptView) -> Sequence[TranscriptEntry]:
    """Return the entries of earlier turns that the prompt shows in full, or showed when the turn began."""
    began = clock.now().timestamp() - settings.run_seconds
    return age(pair(select(view, settings)), began, settings)


def _personal_data(text: str) -> Sequence[str]:
    return [text[found.start : found.end] for found in find_sensitive(text, _PERSONAL)]


_MAX_NAMED = 3


class TaintedFiles:
    """Implements the judge's `ForeignWrites`; `paths` returns the files that a turn changed."""

    def __init__(self, writes: StoredTaintedWrites, paths: Callable[[TurnId], Awaitable[Sequence[str]]]) -> None:
        self._writes = writes
        self._paths = paths
        self.note = writes.note
        self.clear = writes.clear

    async def files(self) -> Sequence[str]:
        found: dict[str, None] = {}
        async for turn in self._writes.turns():
            found.update(dict.fromkeys(each for each in await self._paths(turn) if lexists(each)))
            if len(found) > _MAX_NAMED:
                return (*tuple(found)[:_MAX_NAMED], "…")
        return tuple(found)
