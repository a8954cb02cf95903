"""The operations of a running Hob that slash commands and the API call."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from hob import __version__
from hob.agent.budget.budget import Budget
from hob.agent.commands.inspection import Inspector
from hob.agent.commands.turn_undo import UndoResult
from hob.agent.compaction.compaction import Compacted
from hob.agent.settings import AgentSettings
from hob.app.features import Features
from hob.app.kernel import Kernel
from hob.app.models.usage_report import UsageReport, by_cost
from hob.app.sessions.owner_sessions import OwnerSessions
from hob.app.settings.reload import SettingsReload
from hob.app.settings.sections import read_config
from hob.app.settings.writer import SettingsWriter, settings_view
from hob.app.tools.lazy_runtime import LazyToolRuntime
from hob.app.turn_services.models import ModelServices
from hob.bus.halt import halt, lift_halt
from hob.bus.session_queues import SessionQueues
from hob.bus.settings import SELF_MADE
from hob.config.loading import Config
from hob.config.shown_file import shown_text
from hob.core.clock import Clock
from hob.core.content.chunks import short_title
from hob.core.errors import InvalidRequest, NotAllowed, NotFound
from hob.core.ids import OutboxId, SessionKey, TurnId, new_event_id
from hob.core.lazy import Lazy
from hob.core.messages import WEBHOOK_CHANNEL, WEBHOOK_OUT_CHANNEL
from hob.core.models import PromptAnswer, Spending
from hob.core.ports.tools import Toolset
from hob.core.translation.language import translatable
from hob.gateway.administration import TriedAnswer
from hob.gateway.answer_types import (
    BackupAnswer,
    ErasedAnswer,
    ReloadedAnswer,
    ReplayAnswer,
    SettingAnswer,
    SettingsFileAnswer,
    SpendingAnswer,
    StatusAnswer,
    UndoneAnswer,
)
from hob.gateway.http.prometheus import Metric
from hob.gateway.settings import GatewaySettings
from hob.providers.routing.failover_model import RouteHealthView
from hob.store.store import Store

_ALL_INTERFACES = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, not bound
_MACHINE_CHANNELS = SELF_MADE | {WEBHOOK_CHANNEL, WEBHOOK_OUT_CHANNEL}
"""Channels without a chat."""


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


class DaemonOperations:
    """Implements the agent's `DaemonOperations` and the gateway's `Operations`."""

    def __init__(
        self,
        kernel: Kernel,
        features: Features,
        models: ModelServices,
        toolset: Toolset,
        reloading: SettingsReload,
        views: Callable[[], Awaitable[Mapping[str, Any]]],
        address: str,
        on_handover: Callable[[], None] | None,
    ) -> None:
        """`views` returns the features' status; `address` is the API's URL."""
        self._kernel = kernel
        self._store = kernel.store
        self._queues = kernel.session_queues
        self._clock = kernel.clock
        self._models = models
        self._inspector = Inspector(kernel.config[AgentSettings], models.prompts, self._store.transcript,
                                    self._store.sessions, toolset, models.default_model, models.model)  # fmt: skip
        self._accounts = UsageReport(self._store.ledger, models.budget, self._clock)
        self._tool_runtime = features.port(LazyToolRuntime)
        self._erasure = features.erasure(self._store)
        self.conversations = OwnerSessions(self._store, self._erasure, self._queues)
        """The owner's operations on sessions."""
        self._reloading = reloading
        self._views = views
        self._address = address
        self._on_handover = on_handover
        self._began = kernel.clock.now().timestamp()
        self._shown: tuple[Config, Sequence[SettingAnswer]] | None = None

    async def status(self) -> Mapping[str, Any]:
        store = self._store
        inbox, turns, outbox, views = await asyncio.gather(
            store.inbox.counts(), store.turns.counts(), store.outbox.counts(), self._views()
        )
        health = store.health()
        own: StatusAnswer = {
            "version": __version__,
            "mode": self.mode(),
            "ready": health.problem is None and self.accepting(),
            "pid": os.getpid(),
            "since": self._began,
            "address": self._address or None,
            "halted": self._queues.context.halted,
            "running": turns.running,
            "waiting": inbox.waiting + turns.ready,
            "parked": turns.parked,
            "for_approval": turns.for_approval,
            "for_leave": turns.for_approval,  # deprecated names until 1.0, like the next two
            "for_answer": turns.for_answer,
            "pending": outbox.open,
            "owed": outbox.open,
            "undeliverable": outbox.dead + outbox.parked,
            "stuck": [
                {"id": row.outbound.id, "channel": row.outbound.to.channel, "reason": row.reason}
                for row in (await self._store.outbox.stuck(10) if outbox.dead + outbox.parked else ())
            ],
            "unread": outbox.unread,
            "oldest_pending_seconds": outbox.oldest_age,
            "oldest_owed_seconds": outbox.oldest_age,
            "oldest_waiting_seconds": self._age(inbox.oldest),
            "writer_queue": health.queue,
            "settings": self._reloading.view(),
            "model": self._kernel.choice.line(),
            "resting": [
                _resting_view(route, until)
                for route in self._models.routes.resting()
                if (until := route.until) is not None
            ],
            "unaccepted": list(self._kernel.files.unaccepted()),
            "store": health.problem or "ok",
            "store_health": {
                "queue": health.queue,
                "last_error": health.last_error,
                "check": health.check,
                "size": health.size,
                "free": health.free,
            },
        }
        return {**own, **views}

    def _age(self, since: float | None) -> float:
        return 0.0 if since is None else max(0.0, self._clock.now().timestamp() - since)

    def mode(self) -> str:
        gateway = self._reloading.config[GatewaySettings]
        if gateway.host in _ALL_INTERFACES:
            return "headless"
        if gateway.hosts or gateway.trusted_proxies or not _is_loopback(gateway.host):
            return "remote"
        return "full" if any(name not in _MACHINE_CHANNELS for name, _ in self._kernel.channels.all) else "standalone"

    def settings(self) -> Sequence[SettingAnswer]:
        config = self._reloading.config
        if self._shown is None or self._shown[0] is not config:  # there are hundreds, and they rarely change
            self._shown = config, settings_view(config)
        return self._shown[1]

    async def settings_file(self) -> SettingsFileAnswer:
        config = self._reloading.config
        return {"path": str(config.path), "text": await asyncio.to_thread(shown_text, config.path, config.sections)}

    async def change_settings(self, values: Mapping[str, Any], by: str) -> Sequence[SettingAnswer]:
        return await SettingsWriter(self._store, self._reloading, self._clock).change(values, by)

    async def usage(self, days: int, by: str) -> SpendingAnswer:
        return await self._accounts.report(days, by)

    async def spent_by_model(self, since: float) -> Sequence[tuple[str, Spending]]:
        return by_cost(await self._store.ledger.sums("model", since))

    async def probe_model(self, name: str, draft: str = "") -> TriedAnswer:
        config = self._kernel.config if self._kernel.one_shot else read_config()  # its file may have changed
        return await _load_probe()(config, self._models.budget, self._clock, name, draft)

    async def tasks(self) -> Sequence[tuple[str, str, str]]:
        rows = await self._store.tasks.find(20, open_only=True)
        return [(row.id, row.state.value, row.title) for row in rows]

    async def prompt(self, session: str) -> PromptAnswer:
        return await self._inspector.inspect(await self.conversations.resolve(session))

    async def stop(self, session: SessionKey, reason: str) -> bool:
        return await self._queues.stop(session, reason)

    async def wake(self, turn: TurnId) -> bool:
        return await self._queues.wake(turn)

    async def stop_all(self, reason: str) -> int:
        ended = await halt(self._queues, reason)
        return ended + await self._tool_runtime.stop_commands()

    async def lift(self) -> bool:
        return await lift_halt(self._queues)

    async def cancel(self, id: str, reason: str) -> bool:
        return await self._queues.cancel(id, reason)

    async def resume(self, session: SessionKey) -> None:
        await self._queues.resume(session)

    async def compact(self, session: SessionKey, model: str) -> tuple[int, int] | str:
        done = await self._models.compactor.compact(session, reason="/compact", model=model)
        return (done.messages, len(done.summary.text)) if isinstance(done, Compacted) else done.reason

    async def undo_compaction(self, session: SessionKey) -> bool:
        return await self._store.transcript.undo_summary(session)

    async def undo_turn(self, session: SessionKey) -> UndoResult | None:
        hidden = await self._store.transcript.hide_last_turn(session)
        if not hidden:
            return None
        words = short_title(next((entry.text for entry in hidden if entry.role == "user"), hidden[0].text))
        turn, undoing = TurnId(hidden[0].turn), self._tool_runtime.made().turn_undo
        if not (files := await undoing.paths(turn)):
            return UndoResult(words)
        return UndoResult(words, tuple(files), "" if turn == await undoing.newest(session) else turn)

    async def undo_files(self, session: SessionKey, turn: str, by: str, *, preview: bool) -> UndoneAnswer:
        undoing = self._tool_runtime.made().turn_undo
        if preview:
            return await undoing.preview(await undoing.find(turn, session))
        found = await undoing.previous_request(by) or await undoing.find(turn, session)
        return await undoing.undo(found, by)

    async def undo(self, id: str, session: str, *, preview: bool) -> UndoneAnswer:
        key = await self.conversations.resolve(session)
        return await self.undo_files(key, id, f"call:{new_event_id()}", preview=preview)

    async def retry(self, id: str) -> Mapping[str, Any]:
        if await self._store.outbox.revive(OutboxId(id)):
            self._kernel.signals.outbox(None)
            row = await self._store.outbox.find(OutboxId(id))
            return {"id": id, "turn": row.outbound.turn if row is not None else None, "state": "ready"}
        turn = await self._store.turns.retry(id)
        if turn is None:
            raise NotFound(
                translatable(
                    "no failed or quarantined message is called {id}; `hob tasks --all` lists everything", id=id
                )
            )
        await self._queues.wake(turn)
        return {"id": id, "turn": turn, "state": "ready"}

    async def retry_all(self, reason: str) -> Mapping[str, Any]:
        """Retry every turn that failed for this reason and was not retried yet, oldest first."""
        turns = await self._store.turns.failed_for(reason)
        return {"retried": [await self.retry(turn) for turn in turns]}

    async def backup(self, file: Path) -> BackupAnswer:
        if not file.parent.is_dir():
            # creating the folder would hide that the backup disk is not mounted
            raise InvalidRequest(
                translatable(
                    "{folder} is not a directory; create it, or mount what should be there", folder=file.parent
                )
            )
        await self._store.backup(file)
        return {"file": str(file), "bytes": file.stat().st_size}

    async def erase(self, person: str, *, preview: bool) -> ErasedAnswer:
        kernel = self._kernel
        erase = _load_erasure()(self._store, self._erasure, kernel.pairing_service, kernel.config.home)
        return await erase(person, preview)

    async def replay(self, id: str, model: str) -> ReplayAnswer:
        models = self._models
        return await _load_replay()(self._store, models.model, models.routes.routes, models.budget, self._clock)(
            id, model
        )

    async def metrics(self) -> Sequence[Metric]:
        return await _load_metrics()(self._store, self._queues, dict(await self.status()), self._models.default_model())

    def reload(self) -> ReloadedAnswer:
        return self._reloading()

    def accepting(self) -> bool:
        return self._queues.accepting

    def hand_over(self) -> None:
        if self._on_handover is None:
            raise NotAllowed(translatable("this is the daemon; stop it with SIGTERM"))
        self._on_handover()


@Lazy
def _load_metrics() -> Callable[[Store, SessionQueues, dict[str, Any], str], Awaitable[Sequence[Metric]]]:
    from hob.app.maintenance.metrics import collect_metrics

    return collect_metrics


@Lazy
def _load_probe() -> Callable[[Config, Budget, Clock, str, str], Awaitable[TriedAnswer]]:
    from hob.app.models.probe import probe_model

    return probe_model


@Lazy
def _load_replay() -> Callable[..., Callable[[str, str], Awaitable[ReplayAnswer]]]:
    from hob.app.replay.replay import TurnReplay

    return TurnReplay


@Lazy
def _load_erasure() -> Callable[..., Callable[[str, bool], Awaitable[ErasedAnswer]]]:
    from hob.app.maintenance.person_erasure import PersonErasure

    return PersonErasure


def _resting_view(route: RouteHealthView, until: datetime) -> Mapping[str, Any]:
    return {"model": route.route.ref, "key": route.route.key + 1, "reason": route.fault, "until": until.timestamp()}
